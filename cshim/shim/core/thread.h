/* SPDX-License-Identifier: MIT
 *
 * The data of each thread, and its entry in the area.
 */
#ifndef SHIM_THREAD_H
#define SHIM_THREAD_H

#include "kernel/arch.h"
#include "kernel/state.h"

/* All fields but cursor, tid, busy_sp and quiet_sp are used with signals
 * blocked only. */
struct self {
	uint64_t cursor;     /* address of the next slot */
	uint32_t chunk;	     /* index + 1 of the chunk it lies in, or 0 */
	uint32_t thread;     /* index + 1 of our entry, or 0 */
	uint32_t process;    /* as in state_page when these were set */
	uint32_t n_forks;    /* CST_FORK records so far */
	uint32_t is_forking; /* between that record and the fork's end */
	uint64_t marked_at;  /* where the cursor was behind the last of them */
	uint32_t forked_from, n_fork; /* for our entry, in a child */
	uint32_t home;		 /* index + 1 of the process that it is of */
	uint32_t tid;		 /* the thread's own; 0: not asked yet */
	uint64_t busy_sp;	 /* signals.h; or 0 */
	uint64_t quiet_sp;	 /* while it runs a what(), exception.c; or 0 */
	struct open_calls *open; /* open_calls.h; or NULL */
	uint64_t callback_sp;	 /* while it is in a callback, watch.h; or 0 */
	/* sigstack.h, as last recorded */
	uint64_t alternate_low, alternate_size;
	uint32_t alternate_disarms;
	uint32_t ordinal;  /* of its process's threads, from 1; 0: no entry */
	uint64_t asked_at; /* ticks */
	uint32_t asks;	   /* thread_claimed() */
	/* while it has waited for the reader to look at sites, in all */
	uint64_t waited_ticks;
};

extern HIDDEN __thread struct self self
	__attribute__((tls_model("initial-exec")));

/* A slot's own address tells whether its chunk is full, never a second word:
 * a signal handler may change the chunk between two loads.  The slots behind
 * the mark take the steps of handlers that come before the slow path does. */
enum { CURSOR_FULL = CST_CHUNK_RECORDS * CST_RECORD_SIZE };

/* The reader has written to the slots, to empty them: the line that is this far
 * ahead is asked for, so that it is there some events later. */
enum { CURSOR_AHEAD = 512 };

static inline int cursor_is_full(uint64_t slot)
{
	return (slot & (CST_CHUNK_SIZE - 1)) >= CURSOR_FULL;
}

/* Resets me if it is still that of another process, a fork child's parent. */
void thread_renew(struct self *me);

/* Adds the calling thread to the area, as me->thread.  Returns 0, or a negative
 * number if the table is full, which it counts.  Called with signals blocked.
 */
int thread_register(struct self *me);
/* pthread_atfork(), or libc's way to it. */
typedef int thread_atfork(void (*before)(void), void (*parent)(void),
			  void (*child)(void));
/* Has libc report forks by that, as the program starts. */
void thread_watch_forks(thread_atfork *atfork);
/* Records that the calling thread may be about to fork: the child's tree begins
 * with what is open.  Async-signal-safe. */
void thread_mark_fork(void);

/* Makes threads such that are in no area, while they stand still; pointers are
 * the n thread pointers. */
void threads_forget(const uint64_t *pointers, uint64_t n);

/* Has the area have the calling thread's name as it is now. */
void thread_renamed(void);

/* Makes sure that the end of the thread is noticed, as far as libc does.
 * Called with signals blocked. */
void thread_watch_end(void);

/* Returns the seq of a chunk that me has just claimed, and makes sure that the
 * end of the thread hands the chunk over.  me->asks says whether the kernel is
 * to be asked for what the thread may have changed past libc: not with each
 * chunk of a thread that fills many in a moment.  Called with signals blocked.
 */
uint32_t thread_claimed(struct self *me);

#endif
