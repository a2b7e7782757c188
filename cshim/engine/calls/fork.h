/* SPDX-License-Identifier: MIT
 *
 * A fork child inherits the calls that its parent had open: its tree begins
 * with a copy of them.
 */
#ifndef ENGINE_FORK_H
#define ENGINE_FORK_H

#include "calls/callstack.h"

/* Keeps a copy of what the thread has open, just before its fork number
 * n_fork. */
void fork_snapshot(struct thread *t, uint32_t n_fork);

/* Opens on a child's first thread what its parent's thread had open at the
 * fork; if that is not known, what it has open now above `cfa`, the frame of
 * the child's first record (and at it, when that is an exit). They are the
 * child's from `time` on. */
void fork_inherit(struct callstack *c, struct thread *child, uint64_t time,
		  uint64_t cfa, int is_exit);

/* Frees the copies of the thread. */
void fork_release(struct thread *t);

#endif
