/* SPDX-License-Identifier: MIT
 *
 * Records where a thread's signal handlers run if they have a stack of their
 * own.
 */
#ifndef SHIM_SIGSTACK_H
#define SHIM_SIGSTACK_H

#include "core/thread.h"

/* Records the calling thread's signal stack, which it has just set.
 * Async-signal-safe. */
void sigstack_tell(void);

/* Records it again in the chunk that the calling thread has just claimed: the
 * records in earlier chunks may have gone to another reader, or be out of date.
 * Called with signals blocked. */
void sigstack_tell_again(struct self *me);

#endif
