/* SPDX-License-Identifier: MIT
 *
 * Entries that the fast path does not handle, because they are not calls from
 * the innermost open one: which stack they are on, and which calls were unwound
 * before them.  Only callstack.c uses it.
 */
#ifndef ENGINE_ENTER_SLOW_H
#define ENGINE_ENTER_SLOW_H

#include "calls/callstack.h"

struct frame;

/* Returns the stack to push the call on, after closing the calls on it that
 * were unwound. */
struct stack *entry_settle(struct callstack *c, struct thread *t,
			   const struct frame *f);

#endif
