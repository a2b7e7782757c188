/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A perf event of a thread of another process: the kernel interrupts the thread
 * each time that it ran for a period, and copies its registers and the inner
 * part of its stack into a ring of ours.  The thread is not stopped.
 */
#ifndef CLI_THREAD_EVENT_H
#define CLI_THREAD_EVENT_H

#include "remote_stack.h"

#include <stdint.h>

struct thread_event {
	int fd; /* -1: none; else readable when there is a sample */
	unsigned char *ring;
	uint32_t n_lost; /* samples without room in the ring */
};

/* Begins with the thread.  Returns 1, or 0 if the kernel refuses: errno says
 * why.  The event counts the time in the kernel, too, which needs root or
 * kernel.perf_event_paranoid below 2. */
int thread_event_open(struct thread_event *e, uint32_t tid, uint32_t hz);
void thread_event_close(struct thread_event *e);

/* Takes the next sample out of the ring.  Returns 1, or 0 if there is none; out
 * lasts until the next call for any thread. */
int thread_event_next(struct thread_event *e, struct snapshot *out);

#endif
