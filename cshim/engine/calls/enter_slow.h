/* SPDX-License-Identifier: MIT
 *
 * Entries that are not plain calls from the innermost open one: which stack
 * they are on, and what was left before them.  For callstack.c alone.
 */
#ifndef ENGINE_ENTER_SLOW_H
#define ENGINE_ENTER_SLOW_H

#include "calls/callstack.h"

struct frame;

/* The stack to push on, with what was left there closed. */
struct stack *entry_settle(struct callstack *c, struct thread *t,
			   const struct frame *f);

#endif
