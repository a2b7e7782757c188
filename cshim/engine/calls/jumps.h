/* SPDX-License-Identifier: MIT
 *
 * Records of no call: marks of what a thread does besides.
 */
#ifndef ENGINE_JUMPS_H
#define ENGINE_JUMPS_H

#include "calls/callstack.h"

struct frame;

/* A record of that site number; the thread's last_time is its already. */
void jumps_take(struct callstack *c, struct thread *t,
		const struct cst_record *r, uint32_t number);

/* Is it a record of what the thread does only because the shim asks an
 * exception what it says? */
int jumps_is_quiet(struct thread *t, const struct cst_record *r,
		   uint32_t number);

/* An entry that is not plain, on s: where an exception went on, its place in
 * the code tells what of that frame's inlined calls is left. */
void jumps_settle(struct callstack *c, struct thread *t, struct stack *s,
		  const struct frame *f);

#endif
