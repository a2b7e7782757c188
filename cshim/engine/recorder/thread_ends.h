/* SPDX-License-Identifier: MIT
 *
 * Threads that end while their process goes on: by pthread_exit(),
 * cancellation, or the system call.  No record says so: the kernel is asked,
 * and for a process that has ended, what its threads wrote at their ends.  The
 * calls that they had open are unwound, at the time that the thread wrote at
 * its end, else when the end was noticed.  (A process that ends leaves the
 * calls of its other threads open.)
 */
#ifndef ENGINE_THREAD_ENDS_H
#define ENGINE_THREAD_ENDS_H

#include "recorder/recorder.h"

/* thread_ends_mark(), called before a round, marks the threads that have ended,
 * whose last records the round will consume.  It polls at most a few times a
 * second unless is_last is set. */
void thread_ends_mark(struct cst_recorder *r, int is_last);

/* Marks the threads that have ended in an area that nobody writes any more, by
 * what they wrote. */
void thread_ends_mark_ended(struct cst_recorder *r);

/* Unwinds what the threads have open that were marked; called after a round
 * that left no records. */
void thread_ends_unwind(struct cst_recorder *r);

#endif
