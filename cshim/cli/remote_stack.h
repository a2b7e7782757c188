/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Walks the stack of a thread of another process (libunwind): of one that
 * stands, a tracer having stopped it, or of one that runs, from a copy that the
 * kernel made of its registers and of the inner part of its stack.
 */
#ifndef CLI_REMOTE_STACK_H
#define CLI_REMOTE_STACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SNAPSHOT_REGS = 17 }; /* the general ones and the program counter */

/* A thread at one moment.  The memory at stack is the caller's. */
struct snapshot {
	uint64_t regs[SNAPSHOT_REGS]; /* by libunwind's numbers */
	uint64_t sp;		      /* address of the stack's first byte */
	const unsigned char *stack;
	size_t size; /* bytes of it */
};

struct remote_stack;

/* NULL: there is no memory. */
struct remote_stack *remote_stack_new(pid_t pid);
void remote_stack_free(struct remote_stack *r);

/* What libunwind-ptrace needs of a thread; NULL: there is no memory. */
void *remote_thread_new(uint32_t tid);
void remote_thread_free(void *thread);

/* Writes at most CST_SAMPLE_FRAMES addresses to out, innermost first, return
 * addresses less 1.  Returns their number, and in *is_cut whether outer frames
 * are missing.  Without a snapshot the thread has to stand.  What lies above
 * the snapshot's part of the stack is read as it is now. */
uint32_t remote_stack_walk(struct remote_stack *r, void *thread,
			   const struct snapshot *at, uint64_t *out,
			   int *is_cut);

#endif
