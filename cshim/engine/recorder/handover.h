/* SPDX-License-Identifier: MIT
 *
 * Hands a descriptor over to another user's process, which cannot look into
 * /proc/PID/fd.
 */
#ifndef ENGINE_HANDOVER_H
#define ENGINE_HANDOVER_H

#include "base/error.h"

#include <pthread.h>
#include <stdint.h>

struct handover {
	pthread_t thread;
	char path[64]; /* "@NAME" of an abstract socket; "": not begun */
	int listener;
	int fd; /* borrowed */
	uint32_t pid;
};

/* Begins to hand fd to the process pid, and to no other, as often as that
 * connects to the socket of h->path: fd is borrowed until handover_end().
 * Returns 0, or CST_FAILED with nothing begun. */
int handover_begin(struct handover *h, int fd, uint32_t pid,
		   struct cst_error *err);
/* Also of one that was not begun, which is all zero. */
void handover_end(struct handover *h);

#endif
