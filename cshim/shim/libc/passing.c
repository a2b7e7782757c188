/* SPDX-License-Identifier: MIT
 *
 * Tells gdb where the functions are that stand before libc's, and what the
 * dynamic linker calls (PASSED_FUNCTION): gdb's steps pass over them
 * (gdbext/process/line_steps.py).
 */
#include "kernel/state.h"

/* Made by the linker: of each function the first instruction and the last,
 * each as the distance from the number that says so. */
extern HIDDEN const int32_t __start_cstrace_passing[], __stop_cstrace_passing[];

EXPORT const uint64_t cstrace_passing_bounds[] = {
	(uint64_t)__start_cstrace_passing,
	(uint64_t)__stop_cstrace_passing,
};
