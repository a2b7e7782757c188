/* SPDX-License-Identifier: MIT
 *
 * Checks plans as the program runs: with CSTRACE_CHECK_ENDS=1 in its
 * environment, each end of a patched function must find its own entry open,
 * with the same CFA.  Else the plan is wrong, and the program is aborted with a
 * message.
 */
#ifndef SHIM_ENDS_CHECK_H
#define SHIM_ENDS_CHECK_H

#include "kernel/state.h"

/* Whether events are checked.  It is never set again once it was cleared. */
extern HIDDEN int ends_are_checked;

/* To be called before any patch is written, while no patched function runs. */
void ends_check_begin(void);
/* From now on functions may end whose entries nobody saw. */
void ends_check_end(void);

/* Takes an event: the function, the address of its return address, the word
 * that its site has (CST_PATCHED_ENTRY), and where in an area of new code it
 * was reported.  Does not return if an end has no entry.  Async-signal-safe. */
void ends_check(uint64_t function, uint64_t returns_at, uint64_t hook,
		uint64_t reported_at);

#endif
