/* SPDX-License-Identifier: MIT
 *
 * The reader may want calls down to some depth only (area->keep_depth).  Then
 * the state is STATE_SHALLOW, and each thread knows the calls that are open on
 * its own stack down to that depth, and the outermost call below it, which is
 * not recorded: the hidden call.  Whatever is called from there lies below the
 * hidden call's stack pointer, and is passed over by one comparison.
 *
 * A call that the reader wants is never passed over; one too many may be
 * recorded, for the reader drops what is too deep.  So what is not sure does
 * not count as a level: a call whose site the reader has not judged yet (it may
 * be one that is excluded), one that may have been left by a jump, all calls on
 * any other stack.
 */
#ifndef SHIM_DEPTH_H
#define SHIM_DEPTH_H

#include "core/area.h"
#include "core/copy.h"
#include "kernel/state.h"

/* So many calls that were passed over are reported, whatever comes. */
enum { DEPTH_TELL_AFTER = 1 << 16 };

/* What a hook was given, and found. */
struct depth_event {
	uint64_t callee, caller, hook, sp, fp;
	enum cst_kind kind;
	const struct copy_registers *registers;
	uint64_t left_to; /* where a patched function jumps to, or 0 */
};

/* The calling thread's. */
struct depth {
	/* The hidden call's stack pointer, or 0; what else tells its exit. */
	uint64_t hidden_sp, hidden_callee;
	uint64_t hidden_fp; /* 1: its function has no frame pointer */
	uint32_t n_hidden;  /* it may be inlined into itself so many times */
	uint32_t begun;	    /* depth_begun() when this was made */
	/* The return address of the innermost call that counts, which must be
	 * where it was: else that call was left without a word. */
	const uint64_t *guard;
	uint64_t guarded;
	uint64_t low, high;	  /* the thread's own stack */
	struct depth_call *calls; /* open ones, the outermost first */
	uint32_t n, n_counted;
	uint32_t n_judged; /* area->n_judged when they were counted */
	uint32_t is_off;   /* nothing is passed over on this thread any more */
	/* Calls passed over, and not reported so far.  n_false of them are no
	 * calls: they make that the others are reported at once. */
	uint64_t n_passed, n_false;
	uint64_t busy_sp; /* while the above is being changed; or 0 */
};

extern HIDDEN __thread struct depth depth_own
	__attribute__((tls_model("initial-exec")));
extern HIDDEN uint32_t depth_n_forgotten;

/* Changes when open calls may have come or gone without the hooks. */
static inline uint32_t depth_begun(void)
{
	return __atomic_load_n(&area->n_begun, __ATOMIC_RELAXED) +
	       __atomic_load_n(&depth_n_forgotten, __ATOMIC_RELAXED) + 1;
}

/* Returns whether the reader wants no deeper calls than some depth. */
static inline int depth_is_limited(void)
{
	return __atomic_load_n(&area->keep_depth, __ATOMIC_RELAXED) != 0;
}

static inline int depth_guard_holds(const struct depth *d)
{
	return __atomic_load_n(d->guard, __ATOMIC_RELAXED) == d->guarded;
}

/* Is the event one that is passed over at the first glance? */
static inline __attribute__((always_inline)) int
depth_hides(uint64_t callee, uint64_t sp, uint64_t fp, enum cst_kind kind)
{
	struct depth *d = &depth_own;

	if (sp >= d->hidden_sp || sp < d->low || d->begun != depth_begun() ||
	    !depth_guard_holds(d))
		return 0;
	if (kind == CST_ENTER) {
		if (d->n_passed >= DEPTH_TELL_AFTER)
			return 0;
		d->n_passed++;
	} else if (callee == d->hidden_callee && fp == d->hidden_fp)
		return 0;
	return 1;
}

/* Takes an event; returns whether it is not to be recorded.  The state is "on",
 * and the thread no guest.  Async-signal-safe. */
int depth_drops(const struct depth_event *e);

/* Takes a jump of the calling thread to the stack pointer sp; is_switch: maybe
 * to another stack.  Returns whether it need not be recorded. */
int depth_jumps(uint64_t sp, int is_switch);

/* The signal stack has changed: it is at [low, low + size). */
void depth_alternate(uint64_t low, uint64_t size);

/* Hooks may have been off for a while. */
void depth_forget(void);

/* Reports how many calls were passed over since the last report. */
void depth_tell(void);

/* The thread is a fork child's: what is open is its parent's calls, and the
 * process is reported however deep its own are. */
void depth_forked(void);

/* The thread ends; signals are blocked. */
void depth_end(void);

/* Makes the state heed a limit that came while it was "on". */
void depth_heed(void);

#endif
