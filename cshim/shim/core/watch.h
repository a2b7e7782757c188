/* SPDX-License-Identifier: MIT
 *
 * The program watches itself: callbacks, the calls that are open, the spans
 * that are kept (cstrace.h).  While it does, no hook goes the fast way; while
 * it does not, none notices that it could.
 */
#ifndef SHIM_WATCH_H
#define SHIM_WATCH_H

#include "core/open_calls.h"
#include "core/thread.h"
#include "cstrace/cstrace.h"

/* What the program wants, in watch_wanted. */
enum {
	WATCH_CALLBACKS = 1,
	WATCH_CALLS = 2, /* the calls that are open */
	WATCH_SPANS = 4, /* spans are kept */
	WATCH_STOPS = 8, /* gdb's wish: conditions to stop at, stops.h */
};

extern HIDDEN uint32_t watch_wanted;

static inline int watch_any(void)
{
	return __atomic_load_n(&watch_wanted, __ATOMIC_RELAXED) != 0;
}

/* Returns whether it wants to know of calls, not of spans alone. */
static inline int watch_calls(void)
{
	return (__atomic_load_n(&watch_wanted, __ATOMIC_RELAXED) &
		(WATCH_CALLBACKS | WATCH_CALLS | WATCH_STOPS)) != 0;
}

/* Returns whether it is gdb alone that wants to know the open calls. */
static inline int watch_is_gdbs(void)
{
	return __atomic_load_n(&watch_wanted, __ATOMIC_RELAXED) == WATCH_STOPS;
}

/* A call of a hook or of cstrace.h, or a span. */
struct watched_call {
	uint64_t callee; /* the function; of cstrace.h: the place */
	uint64_t caller;
	uint64_t sp;
	uint32_t kind; /* CST_CALL, CST_SPAN */
	uint32_t can_veto;
	struct cstrace_place *place;	    /* NULL: a hook's */
	const struct cstrace_value *values; /* arguments, or the result */
	uint32_t n_values;
	uint32_t flags;	  /* enum open_flag, of what is reported */
	uint64_t left_to; /* see struct open_call */
};

/* Adds the wish, or takes it back. */
void watch_set(uint32_t what, int on);

/* Add or remove a callback; see cstrace.h. */
int watch_on_enter(cstrace_enter_callback *callback, void *data);
int watch_on_exit(cstrace_exit_callback *callback, void *data);
int watch_off(int callback);

/* Returns whether the calling thread is in a callback, or in a what() that the
 * shim asks, or cannot be watched: then its calls are not seen. */
int watch_is_quiet(void);

/* Report that a call begins, or ends.  watch_enter() returns CSTRACE_VETO if a
 * callback does, and sets *opened, if it is not NULL, to the open call, or to
 * NULL.  watch_exit() returns the open call's data in *out, if that is not NULL
 * and the result 0; -1: it was not known to be open.  A call that is left by a
 * jump may stay open: see open_calls_leave(). */
int watch_enter(const struct watched_call *call, struct open_call **opened);
int watch_exit(const struct watched_call *call, struct open_call *out);

/* Reports a jump to that stack pointer, by the unwinder or by another. */
void watch_jump(uint64_t sp, int is_unwinders);

/* Returns the ticks of the calling thread's own time: not while the debugger
 * has the program stand still, nor while the thread waits for the reader. */
uint64_t watch_ticks(void);

/* In a fork child: the other threads are not there. */
void watch_after_fork(void);

/* Returns the time in ns of so many ticks. */
uint64_t watch_ns(uint64_t ticks);

#endif
