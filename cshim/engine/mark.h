/* SPDX-License-Identifier: MIT
 *
 * Records of no call: marks of what a thread does besides.
 */
#ifndef ENGINE_MARK_H
#define ENGINE_MARK_H

#include "callstack.h"

struct frame;

/* The thread's last_time is the record's already. */
void mark_take(struct callstack *c, struct thread *t,
	       const struct cst_record *r);

/* An entry that is not plain, on s: where an exception went on, its place in
 * the code tells what of that frame's inlined calls is left. */
void mark_settle(struct callstack *c, struct thread *t, struct stack *s,
		 const struct frame *f);

#endif
