/* SPDX-License-Identifier: MIT
 *
 * Calls at which the program is to stop: gdb says which (struct cst_stops), and
 * has a breakpoint on cstrace_hook_stop(), which is called there.  While there
 * are such conditions no hook goes the fast way.
 */
#ifndef SHIM_STOPS_H
#define SHIM_STOPS_H

#include "core/open_calls.h"
#include "core/stop_values.h"
#include "kernel/state.h"

extern HIDDEN uint32_t stops_wanted;

/* Returns whether there are conditions for this process. */
static inline int stops_any(void)
{
	return __atomic_load_n(&stops_wanted, __ATOMIC_RELAXED) != 0;
}

/* Heeds what gdb has written.  The caller holds the lock, and control_watched()
 * comes next. */
void stops_obey(void);

/* Forgets what a gdb has left that was killed. */
void stops_forget(void);

/* Is this the event of a patched function that gdb has set back, and that has
 * been taken?  It is no more of that then. */
int stops_is_again(uint64_t callee, uint64_t sp, uint64_t hook);

/* Take the entry of a function, whose record is written; opened is NULL if the
 * open calls are not known, or there was no room.  Async-signal-safe. */
void stops_enter(const struct stop_event *e, struct open_call *opened);
/* Takes the end of a call, by that exit. */
void stops_exit(const struct stop_event *e, const struct open_call *ended);
/* The like of the innermost open call, which ends by a jump: what its end has
 * to tell waits for what it has jumped to. */
void stops_leave(const struct stop_event *e, const struct open_call *left);
/* These conditions have waited for an end that nobody saw. */
void stops_lose(uint32_t conditions);
/* The thread is being unwound, and goes on at that stack pointer; 0: an
 * exception was caught. */
void stops_unwind(uint64_t sp);
/* Takes a jump to that stack pointer, by the unwinder or by another, before it
 * leaves any call. */
void stops_jump(uint64_t sp, int is_unwinders);

#endif
