/* SPDX-License-Identifier: MIT
 *
 * Records of no call: marks of what a thread does besides.
 */
#ifndef ENGINE_MARK_H
#define ENGINE_MARK_H

#include "callstack.h"

/* The thread's last_time is the record's already. */
void mark_take(struct callstack *c, struct thread *t,
	       const struct cst_record *r);

#endif
