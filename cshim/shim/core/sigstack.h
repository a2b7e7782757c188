/* SPDX-License-Identifier: MIT
 *
 * Telling where a thread's signal handlers run that want a stack of their own.
 */
#ifndef SHIM_SIGSTACK_H
#define SHIM_SIGSTACK_H

#include "core/thread.h"

/* The calling thread has just set another one.  Async-signal-safe. */
void sigstack_tell(void);

/* Into the chunk that the calling thread has just claimed: what was told in
 * those before may have been told to another reader, or be out of date.
 * Signals blocked. */
void sigstack_tell_again(struct self *me);

#endif
