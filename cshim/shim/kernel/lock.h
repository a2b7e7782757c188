/* SPDX-License-Identifier: MIT
 *
 * The one lock of the shim, for rare work: obeying gdb, a new site, the first
 * claim of a chunk.  It is locked only with all signals blocked, so no handler
 * waits for the code that it interrupted.  The word is 0: free, 1: locked, 2:
 * locked, and another thread waits.
 */
#ifndef SHIM_LOCK_H
#define SHIM_LOCK_H

#include "kernel/state.h"
#include "kernel/syscall.h"

/* The thread that unlocks it may be forbidden to wake the others
 * (syscall_gate.h), so they look again after this many ms. */
enum { LOCK_LOOK_MS = 50 };

/* Locks it if it is free; returns whether it did. */
static inline int lock_try(void)
{
	uint32_t free = 0;

	return __atomic_compare_exchange_n(&state_page.lock, &free, 1, 0,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Locks it; waits for it if need be. */
static inline void lock_take(void)
{
	for (int i = 0; i < 100; i++) {
		if (lock_try())
			return;
		cpu_relax();
	}
	while (__atomic_exchange_n(&state_page.lock, 2, __ATOMIC_ACQUIRE))
		sys_futex_wait(&state_page.lock, FUTEX_WAIT_PRIVATE, 2,
			       LOCK_LOOK_MS);
}

/* Unlocks it and wakes a thread that waits. */
static inline void lock_drop(void)
{
	if (__atomic_exchange_n(&state_page.lock, 0, __ATOMIC_RELEASE) == 2)
		sys_futex_wake(&state_page.lock, FUTEX_WAKE_PRIVATE, 1);
}

#endif
