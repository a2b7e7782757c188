/* SPDX-License-Identifier: MIT
 *
 * Pairs entries with exits: the open calls of each stack, compared by their
 * canonical frame address (CFA), never by depth.  A stack of the program (a
 * thread's own, a coroutine's, a signal handler's) is a lane.  Lanes belong to
 * the process: a coroutine may go on in another thread.
 */
#ifndef ENGINE_CALLSTACK_H
#define ENGINE_CALLSTACK_H

#include "area/clock.h"
#include "base/hashmap.h"
#include "file/writer.h"
#include "names/filter.h"
#include "sites/sites.h"

struct open_call {
	uint64_t cfa;
	uint64_t seq;	 /* in the lane's file; UINT64_MAX: not kept */
	uint64_t start;	 /* ticks, stops left out */
	uint64_t number; /* N of its ID */
	uint64_t row;	 /* the live view's: number of its pending row */
	uint32_t function;
	uint32_t physical;
	uint32_t call_site;
	uint32_t from; /* the live view's: as in struct shown, or UINT32_MAX */
	uint32_t site; /* number in the area, or 0: a seed */
	uint32_t numberer;  /* while it is pending: the thread of its ID */
	uint8_t is_pending; /* not kept so far: it may be too short */
	struct filter_state above, below; /* the live view's, as the rest */
	uint8_t is_near;		  /* cfa is a stand-in: enum nearness */
	uint8_t is_seed;
	/* The live view has seen it: else what is the view's is not set. */
	uint8_t is_listed;
	uint8_t is_visible;
	uint8_t is_printed;
};

/* An exception on its way. */
struct flying {
	uint32_t n;	   /* calls that it may still leave */
	uint32_t function; /* that stands for it, or UINT32_MAX */
	uint64_t cfa;	   /* of the frame that it goes on in */
};

enum { MAX_FLYING = 4 };

/* Memory that frames lie in, at its first byte's address + 1 to the end. */
struct extent {
	uint64_t low, size; /* size 0: nothing is known */
};

static inline int extent_holds(const struct extent *e, uint64_t cfa)
{
	return cfa - e->low - 1 < e->size;
}

struct stack {
	struct open_call *calls;
	uint32_t n, cap;
	uint32_t n_shown;      /* the live view's: looked at for their age */
	uint32_t n_listed;     /* and rows of open calls, as it looked away */
	uint32_t process;      /* index in the area */
	uint32_t ordinal;      /* 0: a thread's own */
	uint64_t high;	       /* highest CFA seen on it */
	struct thread *thread; /* that made it */
	struct lane *lane;     /* NULL: calls are not kept */
	struct stack *next;    /* of the same process */
	/* By this one's first call, a signal handler's or a coroutine's, which
	 * goes back there; or NULL. */
	struct stack *interrupted;
	struct extent extent;		  /* of an alternate one */
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
	/* Of its last forks, each in place n_fork % cap_snapshots. */
	struct snapshot *snapshots;
	uint32_t cap_snapshots; /* 0: it has not forked */
	uint32_t n_snapshot_calls;
	/* The first thread of a fork child, before its first record: whose
	 * calls it goes on in, as of which of its forks. */
	struct thread *heir_of;
	uint32_t n_fork;
	struct stack *own;
	struct stack *current;
	struct extent alternate; /* for handlers, as it has said */
	struct stack *handlers;	 /* the lane of that; NULL: look for it */
	uint64_t base;		 /* just above its own stack, or 0 */
	uint64_t n_calls;	 /* numbers given out */
	uint64_t n_seeds;
	uint64_t last_time;
	uint64_t jump_pc, jump_fp; /* of its last CST_FRAME; used up: 0 */
	uint64_t gone_at;	   /* ticks; 0: lives, as far as is known */
	uint32_t area_index;	   /* UINT32_MAX: has written nothing yet */
	uint32_t process;
	uint32_t ordinal; /* T, from 1 within the process */
	uint32_t tid;
	uint32_t index;	   /* the writer's */
	uint8_t n_looks;   /* times that the kernel was asked for its name */
	uint64_t quiet_sp; /* of its last CST_QUIET; 0: it records */
	char *text;	   /* of CST_TEXT records */
	uint32_t n_text;
	uint8_t has_uncaught; /* an exception ends the program */
	char name[16];
	char shim_name[16]; /* what the shim said last */
};

/* Who hears of calls (the live view); may be NULL. */
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
	uint64_t n_not_kept;
	/* What is kept (cst_recorder_options); 0: all. */
	uint32_t keep_depth;
	uint64_t keep_ticks;
	uint64_t n_dropped;
	uint64_t begin_ticks; /* records from before are passed over */
	/* callstack_take() stops where a thread goes over to another stack:
	 * that is wanted, and it did. */
	uint8_t stays, has_left;
	const struct pauses *pauses; /* borrowed */
	/* private */
	struct stack *stacks; /* all, newest first */
	uint64_t reach; /* farther callers are looked for on other stacks */
	struct hashmap
		callers;  /* what find_lane.c learned of return addresses */
	uint32_t n_extra; /* stacks beyond one for each thread */
};

void callstack_init(struct callstack *c, struct sites *sites,
		    const struct pauses *pauses);
/* Frees all stacks; threads are their owner's. */
void callstack_release(struct callstack *c);

/* A stack, of ordinal 0 for the thread's own. NULL: no memory. */
struct stack *callstack_add(struct callstack *c, struct thread *t,
			    uint32_t ordinal);

/* Take n records of a thread, as far as they are whole and their sites known:
 * numbers below n_known.   Returns how many are done with. */
uint32_t callstack_take(struct callstack *c, struct thread *t,
			const struct cst_record *records, uint32_t n,
			uint32_t n_known);

/* A call that was open when the trace began, at `time`; outermost first. */
void callstack_seed(struct callstack *c, struct thread *t, uint32_t function,
		    uint32_t call_site, const struct cst_seed *seed,
		    uint64_t time);

/* The same, on a stack of the thread's, as it is known already but for its
 * lane, thread and time. */
void callstack_reopen(struct callstack *c, struct thread *t, struct stack *s,
		      const struct open_call *call);

/* Something that is no call, on s: a row below the innermost one.  The call
 * site is one of names. */
void callstack_note(struct callstack *c, struct thread *t, struct stack *s,
		    uint64_t cfa, uint32_t call_site, uint64_t time);

/* From here on calls below so many levels of their stack are not kept, nor
 * those that take less than so many ticks; 0: all are. */
void callstack_keep(struct callstack *c, uint32_t depth, uint64_t ticks);
/* Keep the calls that are open, however short they are so far. */
void callstack_keep_open(struct callstack *c);

uint64_t callstack_n_open(const struct callstack *c);

/* Close all calls from the n-th on: they were left by a jump. */
void stack_unwind(struct callstack *c, struct thread *t, struct stack *s,
		  uint32_t n, uint64_t time);

#endif
