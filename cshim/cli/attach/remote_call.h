/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Calls of functions in another process, by one of its threads, on a stack of
 * their own.  The thread finds all its registers and its signal mask as they
 * were.
 */
#ifndef CLI_REMOTE_CALL_H
#define CLI_REMOTE_CALL_H

#include "attach/tracee.h"

enum { REMOTE_STACK = 1 << 20, REMOTE_VECTORS = 1 << 15 };

struct remote_call {
	struct tracee *tracee;
	pid_t tid;
	uint64_t gate;	/* the address of an instruction `syscall` */
	uint64_t stack; /* the lowest address; 0: there is none */
	int is_fault_ignored;
	/* What the thread had when it stood. */
	struct user_regs_struct registers;
	uint64_t mask;
	unsigned char vectors[REMOTE_VECTORS];
	size_t vectors_size;
};

/* Prepares calls by the thread, which stands still.  Returns 1, or 0 if that
 * cannot be; the thread stands as before then. */
int remote_call_begin(struct remote_call *c, struct tracee *t, pid_t tid,
		      uint64_t gate);
/* Puts the thread back to where it stood, still stopped.  Returns 0 if it is
 * gone. */
int remote_call_end(struct remote_call *c);

/* Calls the function at that address with three arguments.  Returns 1 with the
 * result in *result, or 0: it did not return. */
int remote_call(struct remote_call *c, uint64_t function,
		const uint64_t arguments[3], uint64_t *result);

/* Copies bytes to the low end of the stack, behind `offset`.  Returns their
 * address there, or 0. */
uint64_t remote_call_put(struct remote_call *c, uint64_t offset,
			 const void *from, size_t size);

#endif
