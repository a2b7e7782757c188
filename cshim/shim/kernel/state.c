/* SPDX-License-Identifier: MIT
 *
 * The page that says whether the program is recorded, under two names: gdb
 * reads the exported one, and the shim uses the hidden one, so that the dynamic
 * linker has no say in where it is.
 */
#include "kernel/state.h"

struct state_page state_page;
extern EXPORT struct state_page cstrace_state
	__attribute__((alias("state_page")));
