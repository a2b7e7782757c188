/* SPDX-License-Identifier: MIT
 *
 * The calls that are open on a stack, and how one is opened and closed: it goes
 * into the stack's lane and to the listener.  A stack of the program (a
 * thread's own, a coroutine's, a signal handler's) is a lane.  Lanes belong to
 * the process: a coroutine may go on in another thread.
 */
#ifndef ENGINE_STACK_H
#define ENGINE_STACK_H

#include "area/clock.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/hashmap.h"
#include "file/writer.h"
#include "names/filter.h"
#include "names/values.h"
#include "sites/sites.h"

struct open_call {
	uint64_t cfa;
	uint64_t seq;	 /* within its lane; UINT64_MAX: not kept */
	uint64_t start;	 /* ticks, stops left out */
	uint64_t number; /* N of its ID */
	uint64_t row;	 /* the live view's: number of its pending row */
	uint32_t function;
	uint32_t physical;
	uint32_t call_site;
	uint32_t from; /* the live view's: as in struct shown, or UINT32_MAX */
	uint32_t site; /* number in the area, or 0: a seed */
	uint32_t told; /* function + 1 of a CSTRACE_FUNCTION in it; 0: none */
	uint32_t numberer;  /* while it is pending: the thread of its ID */
	uint8_t is_pending; /* not kept so far: it may be too short */
	struct filter_state above, below; /* the live view's, as the rest */
	uint8_t is_near;		  /* cfa is a stand-in: enum nearness */
	uint8_t is_seed;
	uint8_t is_tailed;  /* it is in the stack's tails, or was */
	uint8_t is_patched; /* set for a seed only */
	/* The live view has seen it: otherwise the view's fields are not
	 * set. */
	uint8_t is_listed;
	uint8_t is_visible;
	uint8_t is_printed;
};

/* An exception that is being thrown, on its way to where it is caught. */
struct flying {
	uint32_t n;	   /* calls that it may still unwind */
	uint32_t function; /* that stands for it, or UINT32_MAX */
	uint64_t cfa;	   /* of the frame where it is caught next */
};

enum { MAX_FLYING = 4 };

/* Memory that frames lie in, from its first byte's address + 1 to the end. */
struct extent {
	uint64_t low, size; /* size 0: nothing is known */
};

static inline int extent_holds(const struct extent *e, uint64_t cfa)
{
	return cfa - e->low - 1 < e->size;
}

/* The values of an open call (its index), in the stack's value_bytes: those
 * from `from` on, as a struct values at `at`. */
struct open_values {
	uint32_t call;
	size_t from, at;
};

/* A call (its index) whose function has jumped to another one: it is open as
 * long as that one is. */
struct open_tail {
	uint64_t at; /* when, as long as nobody knows what comes; else 0 */
	uint32_t call;
	uint32_t end; /* the site of its exit */
};

struct stack {
	struct open_call *calls;
	uint32_t n, cap;
	struct open_values *valued; /* calls with values, outermost first */
	uint32_t n_valued, cap_valued;
	struct bytes value_bytes;
	struct open_tail *tails; /* outermost first */
	uint32_t n_tails, cap_tails;
	/* While a call is being ended: its result, or NULL, and whether it is a
	 * callback that ended it. */
	const struct values *result;
	uint8_t is_vetoed;
	uint32_t n_shown;  /* the live view's: calls whose age it looked at */
	uint32_t n_listed; /* the live view's: its rows of open calls, when it
			      looked away */
	uint32_t process;  /* index in the area */
	uint32_t ordinal;  /* 0: a thread's own */
	uint64_t high;	   /* highest CFA seen on it */
	struct thread *thread; /* the thread that made it */
	struct lane *lane;     /* NULL: calls are not kept */
	struct stack *next;    /* of the same process */
	/* The stack that the first call of this one, a signal handler's or a
	 * coroutine's, interrupted and will return to; or NULL. */
	struct stack *interrupted;
	struct extent extent;		  /* of an alternate signal stack */
	struct flying flying[MAX_FLYING]; /* the last one thrown is the last */
	uint32_t n_flying;
};

/* The calls that were open when a thread forked. */
struct snapshot {
	uint32_t n_fork;
	uint32_t n;
	struct open_call *calls;
};

struct thread {
	/* The calls open at its last forks; fork n_fork is at n_fork %
	 * cap_snapshots. */
	struct snapshot *snapshots;
	uint32_t cap_snapshots; /* 0: it has not forked */
	uint32_t n_snapshot_calls;
	/* For the first thread of a fork child, before its first record: the
	 * parent thread whose open calls it inherits, and the number of that
	 * fork. */
	struct thread *heir_of;
	uint32_t n_fork;
	struct stack *own;
	struct stack *current;
	struct extent alternate; /* for handlers, as the shim reported it */
	struct stack *handlers;	 /* the stack of that; NULL: look for it */
	uint64_t base;		 /* just above its own stack, or 0 */
	uint64_t n_calls;	 /* numbers given out */
	uint64_t n_seeds;
	uint64_t last_time;
	uint64_t jump_pc, jump_fp; /* of its last CST_FRAME; 0: consumed */
	uint64_t ended_at;   /* the tick at which it ended; 0: not known to have
			       ended */
	uint32_t area_index; /* UINT32_MAX: has written nothing yet */
	uint32_t process;
	uint32_t ordinal; /* T, from 1 within the process */
	uint32_t tid;
	uint32_t index;	   /* the writer's */
	uint8_t n_looks;   /* times that the kernel was asked for its name */
	uint64_t quiet_sp; /* of its last CST_QUIET; 0: it records */
	char *text;	   /* of CST_TEXT records */
	uint32_t n_text;
	/* The bytes of a CST_VALUES record (in text), or of one with numbers,
	 * for the next record of a site. */
	uint8_t n_raw;
	uint8_t numbers[CST_PLAIN_BYTES + 8];
	const uint8_t *raw;
	uint8_t has_uncaught; /* an exception ends the program */
	char name[16];
	char shim_name[16]; /* the name that the shim reported last */
};

/* The listener to calls (the live view). entered() is called after a call was
 * opened, left() before it is closed; end is in ticks.  Each may be NULL. */
struct call_listener {
	void (*entered)(void *arg, struct thread *t, struct stack *s,
			struct open_call *c);
	void (*left)(void *arg, struct thread *t, struct stack *s,
		     struct open_call *c, uint64_t end, enum call_end how);
	void *arg;
};

struct callstack {
	struct sites *sites;   /* borrowed */
	struct writer *writer; /* borrowed; NULL: nothing is kept */
	struct call_listener listener;
	uint64_t n_calls, n_unwound, n_orphans, n_seeds;
	uint64_t n_other; /* rows that are no calls */
	/* Only calls within so many levels, and of so many ticks, are kept
	 * (cst_recorder_options); 0: all. */
	uint32_t keep_depth;
	uint64_t keep_ticks;
	uint64_t n_dropped;
	uint64_t begin_ticks; /* records from before it are skipped */
	/* stays: callstack_take() stops where a thread changes to another
	 * stack; has_left: it did so. */
	uint8_t stays, has_left;
	/* waits_for_names: it also stops at a call whose line is being asked
	 * for; is_waiting: it did so. */
	uint8_t waits_for_names, is_waiting;
	/* The live view may ask for the values of calls that are open. */
	uint8_t shows_values;
	struct bytes decoded;	     /* values of one record */
	const struct pauses *pauses; /* borrowed */
	/* private */
	struct stack *stacks; /* all stacks, newest first */
	uint64_t reach; /* callers farther away than this are looked for on
			   other stacks */
	struct hashmap
		callers;  /* what find_lane.c learned of return addresses */
	uint32_t n_extra; /* stacks beyond one for each thread */
};

/* Adds a stack of the thread: ordinal 0 is its own.  Returns NULL when out of
 * memory. */
struct stack *stack_add(struct callstack *c, struct thread *t,
			uint32_t ordinal);

/* ---- which calls are kept --------------------------------------------------
 */

/* Makes the lane ready for the innermost call, of this number.  Returns 0, or a
 * negative status if the call cannot be kept. */
int stack_prepare_lane(struct thread *t, struct stack *s, uint64_t number);
/* Enters call i into its lane, as it was open for long enough, and before it
 * all around it: they are older. */
void stack_keep_pending(struct callstack *c, struct stack *s, uint32_t i);
/* Returns whether the call o, the innermost, is kept; 0: not, or not so far. */
int stack_is_kept(struct callstack *c, const struct thread *t,
		  const struct stack *s, struct open_call *o, uint64_t number);
/* Keeps the innermost call, which ends, or drops it: it was not kept so far. */
void stack_end_pending(struct callstack *c, struct stack *s, uint64_t end);
/* Sets in the lane what unwound a call: the exception thrown last on s. */
void stack_mark_thrown(struct stack *s, const struct open_call *o);

/* ---- values ----------------------------------------------------------------
 */

/* Returns the values of an open call on s, or NULL. */
const struct values *stack_values(const struct stack *s,
				  const struct open_call *o);
/* Sets the values of the call that is opened next; v may be NULL. */
void stack_set_values(struct stack *s, const struct values *v);
/* Likewise n bytes of values of that call, which is the innermost one. */
void stack_add_values(struct stack *s, uint32_t call, const void *data,
		      uint32_t n);
/* Keeps in the lane what an entry has beside a call's site and time. */
void stack_keep_rest(const struct callstack *c, struct stack *s,
		     const struct open_call *o);
/* Drops the values of calls that are closed. */
void stack_drop_values(struct stack *s);

/* ---- opening and closing ---------------------------------------------------
 */

INLINE void call_keep(struct callstack *c, struct thread *t, struct stack *s,
		      struct open_call *o, uint64_t number)
{
	if (unlikely(c->keep_depth || c->keep_ticks) &&
	    !stack_is_kept(c, t, s, o, number))
		return;
	if (unlikely(!s->lane || !lane_is_plain(s->lane, number, t->index) ||
		     o->is_seed) &&
	    stack_prepare_lane(t, s, number) < 0) {
		o->seq = NO_SEQ;
		return;
	}
	o->seq = lane_enter(s->lane, o->start, o->call_site);
}

/* Room for one more open call, or NULL: no memory. */
INLINE struct open_call *stack_slot(struct stack *s)
{
	if (array_room(&s->calls, &s->cap, s->n + 1ull) < 0)
		return NULL;
	return &s->calls[s->n];
}

/* The call that was filled in at stack_slot() is open. */
INLINE void stack_push(struct callstack *c, struct thread *t, struct stack *s,
		       uint64_t number)
{
	struct open_call *o = &s->calls[s->n++];

	if (unlikely(o->cfa > s->high))
		s->high = o->cfa;
	o->number = number;
	call_keep(c, t, s, o, number);
	if (unlikely(c->listener.entered != NULL))
		c->listener.entered(c->listener.arg, t, s, o);
}

INLINE void stack_pop(struct callstack *c, struct thread *t, struct stack *s,
		      uint64_t time, enum call_end how)
{
	struct open_call *o = &s->calls[s->n - 1];
	uint64_t end = time > o->start ? time : o->start;

	if (unlikely(c->keep_ticks != 0))
		stack_end_pending(c, s, end);
	if (s->lane)
		lane_exit(s->lane, o->seq, end, how);
	if (unlikely(how == CALL_UNWOUND && s->n_flying && s->lane))
		stack_mark_thrown(s, o);
	if (unlikely(c->listener.left != NULL))
		c->listener.left(c->listener.arg, t, s, o, end, how);
	s->n--;
	if (unlikely(s->n_shown > s->n))
		s->n_shown = s->n;
	if (unlikely(s->n_valued))
		stack_drop_values(s);
	while (unlikely(s->n_tails) && s->tails[s->n_tails - 1].call >= s->n)
		s->n_tails--;
}

/* Closes the calls on s from index n on, innermost first, as unwound at `time`:
 * a jump passed over them. */
void stack_unwind(struct callstack *c, struct thread *t, struct stack *s,
		  uint32_t n, uint64_t time);

/* Likewise, where no jump is known of: calls of functions whose code was
 * patched have returned, but nobody saw when. */
void stack_left(struct callstack *c, struct thread *t, struct stack *s,
		uint32_t n, uint64_t time);

/* Opens a call that was open when the trace began on stack s; all of *call is
 * known but its lane, thread and time. */
void stack_reopen(struct callstack *c, struct thread *t, struct stack *s,
		  const struct open_call *call);

/* Adds a row that is no call below the innermost call on s, at `time`;
 * call_site is one of the names, v its values or NULL. */
void stack_note(struct callstack *c, struct thread *t, struct stack *s,
		uint64_t cfa, uint32_t call_site, uint64_t time,
		const struct values *v);

/* Opens a span on s; all of *call is known but its lane, thread and number; v
 * may be NULL. */
void stack_open(struct callstack *c, struct thread *t, struct stack *s,
		const struct open_call *call, const struct values *v);

#endif
