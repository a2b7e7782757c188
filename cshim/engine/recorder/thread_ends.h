/* SPDX-License-Identifier: MIT
 *
 * Threads that end while their process goes on: by pthread_exit(), cancelled,
 * or by the system call.  No record tells of it, the kernel is asked, and
 * of a process that is over, what its threads said at their ends.  What they
 * had open was left: it is unwound, at the time of the end where the thread
 * said it, else when it was noticed.  (A process that ends leaves the calls of
 * its other threads open.)
 */
#ifndef ENGINE_THREAD_ENDS_H
#define ENGINE_THREAD_ENDS_H

#include "recorder/recorder.h"

/* Before a round: mark the threads that are gone, whose last records it will
 * take.  Asks no more often than some times a second, but when it is certain
 * to be the last chance. */
int thread_ends_process_goes_on(uint32_t pid);
void thread_ends_mark(struct cst_recorder *r, int is_last);

/* The same of an area that nobody writes any more: by what the threads said. */
void thread_ends_mark_ended(struct cst_recorder *r);

/* After a round that left nothing: unwind what those marked before it have
 * open. */
void thread_ends_unwind(struct cst_recorder *r);

#endif
