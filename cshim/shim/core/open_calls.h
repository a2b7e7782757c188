/* SPDX-License-Identifier: MIT
 *
 * The calls and spans that are open in a thread, for the program itself: known
 * from the moment on at which it asks for them.  Async-signal-safe; each
 * function deals with the calling thread.
 */
#ifndef SHIM_OPEN_CALLS_H
#define SHIM_OPEN_CALLS_H

#include <stdint.h>

struct cstrace_place;

struct open_call {
	uint64_t callee; /* the function, or the place if there is one */
	uint64_t caller;
	uint64_t sp;	/* stack pointer before a call from its frame */
	uint64_t start; /* ticks */
	struct cstrace_place *place; /* NULL: it came from a hook */
	uint64_t kept; /* spans: index + 1 among those that are kept, or 0 */
	uint16_t kind; /* CST_CALL or CST_SPAN; 0: it is being made */
	uint16_t is_alternate; /* on the alternate signal stack */
	uint32_t depth;	       /* calls up to here that are open */
	uint32_t level;	       /* spans up to here that are open */
	/* Conditions (stops.h), a bit each: those that name it, or a call
	 * around it, as `under`; those that wait for its end. */
	uint32_t under, awaited;
	uint32_t flags;	  /* enum open_flag */
	uint64_t left_to; /* where its jump led, or 0: that is not known */
};

enum open_flag {
	OPEN_PATCHED = 1, /* sp is where its return address is */
	/* It has ended by a jump, and the thread's next event tells whether
	 * that was a tail call; and: it was one, which is open. */
	OPEN_LEFT = 2,
	OPEN_TAILED = 4,
	OPEN_ANY = 8, /* of an end: of whatever was called there */
};

enum { OPEN_CALLS_MAX = 2048 };

/* Forgets what every thread has: exits may have been missed. */
void open_calls_begin(void);

/* Adds a call.  Returns it, valid until the next call of these functions, or
 * NULL: there is no room. */
struct open_call *open_calls_enter(const struct open_call *call);

/* Removes the innermost call like that one, and what is open within it.
 * Returns 0, or -1 if there is none; copies it into *out. */
int open_calls_exit(const struct open_call *call, struct open_call *out);

/* The like of a call that ends by a jump to left_to: it stays until the
 * thread's next event, and longer if that is the entry of what it jumped to.
 * Returns it, valid until the next call of these functions, or NULL. */
const struct open_call *open_calls_leave(const struct open_call *call);
/* Sets the conditions that wait for that one's end. */
void open_calls_await(uint32_t conditions);

/* Behind an exit with that sp: removes the innermost call if it made that one
 * by a jump.  Returns whether it did; copies it into *out. */
int open_calls_end_tailed(uint64_t sp, struct open_call *out);

/* Returns the conditions that have waited for the end of calls that went on by
 * a jump, and whose end nobody saw; forgets them. */
uint32_t open_calls_lost(void);

/* Removes the calls that a jump to that stack pointer leaves. */
void open_calls_jump(uint64_t sp);

/* Returns call i of those that are open, 0 for the innermost, or NULL. */
const struct open_call *open_calls_at(uint32_t i);

/* Returns how many calls are open, with those for which there was no room. */
uint32_t open_calls_depth(void);

/* Returns the thread's number. */
uint32_t open_calls_tid(void);

/* In a fork child: the thread has another number. */
void open_calls_after_fork(void);

/* Frees the thread's memory. */
void open_calls_release(void);

#endif
