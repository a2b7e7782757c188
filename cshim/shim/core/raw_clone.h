/* SPDX-License-Identifier: MIT
 *
 * Guests: children made by clone(CLONE_VM) without thread data of their own.
 * They use their maker's, with its cursor, at the same time as it does, and
 * nothing but the kernel's thread number distinguishes the two.  So once there
 * are guests, all events of the process are handled by event_slow(), where each
 * guest finds a cursor of its own.
 */
#ifndef SHIM_RAW_CLONE_H
#define SHIM_RAW_CLONE_H

#include "core/thread.h"

/* Returns the caller's own struct self: `self`, or a guest's.  Returns NULL,
 * and counts it, if there is no room.  Async-signal-safe; the state is "on". */
struct self *self_now(void);

/* Reports that the calling thread is about to make a guest. */
void guests_expect(void);

/* Returns whether `me` is another thread's, which uses it too.  Guests that did
 * not come by the shim's clone() are found so, when a chunk is full. */
int guest_is_unannounced(const struct self *me);

/* Returns, in a fork child, the entry + 1 of the guest of that process that
 * made it, or 0 if it was none. */
uint32_t guest_that_forked(uint32_t process);

#endif
