/* SPDX-License-Identifier: MIT
 *
 * A fork child goes on in the calls that its parent had open: its tree begins
 * with a copy of them.
 */
#ifndef ENGINE_FORK_H
#define ENGINE_FORK_H

#include "calls/callstack.h"

/* The thread is about to fork: keep what it has open. */
void fork_snapshot(struct thread *t, uint32_t n_fork);

/* Open on a child's first thread what its parent's thread had open at the
 * fork; where that is not known, what it has open now above `cfa`, the frame
 * of the child's first record (at it, too, when that is an exit).  They are the
 * child's from `time` on. */
void fork_inherit(struct callstack *c, struct thread *child, uint64_t time,
		  uint64_t cfa, int is_exit);

void fork_release(struct thread *t);

#endif
