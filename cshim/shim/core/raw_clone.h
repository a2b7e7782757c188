/* SPDX-License-Identifier: MIT
 *
 * Guests: children made by clone(CLONE_VM) that were given no thread data of
 * their own.  They use their maker's, with its cursor, at the same time as it
 * does, and nothing but the kernel's number tells the two apart.  So once there
 * are guests, all events of the process take the slow way, where each guest
 * finds a cursor of its own.
 */
#ifndef SHIM_RAW_CLONE_H
#define SHIM_RAW_CLONE_H

#include "core/thread.h"

/* The caller's own: `self`, or a guest's.  NULL: there is no room, counted.
 * Async-signal-safe; the state is "on". */
struct self *self_now(void);

/* The calling thread is about to make one. */
void guests_expect(void);

/* Is `me` another thread's, which uses it too?  Guests that our clone() was not
 * asked for are found so, when a chunk is full. */
int guest_is_unannounced(const struct self *me);

/* In a fork child: the entry + 1 of the guest, of that process, that made it;
 * 0: it was none. */
uint32_t guest_that_forked(uint32_t process);

#endif
