/* SPDX-License-Identifier: MIT
 *
 * The one lock of the shim, around rare work: answering gdb, a new site, the
 * first claim.  Taken with all signals blocked only, so no handler waits for
 * the code it interrupted.  0: free, 1: taken, 2: somebody waits.
 */
#ifndef SHIM_LOCK_H
#define SHIM_LOCK_H

#include "kernel/state.h"
#include "kernel/syscall.h"

/* Who drops it may be forbidden to wake us (syscall_gate.h). */
enum { LOCK_LOOK_MS = 50 };

static inline int lock_try(void)
{
	uint32_t free = 0;

	return __atomic_compare_exchange_n(&state_page.lock, &free, 1, 0,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

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

static inline void lock_drop(void)
{
	if (__atomic_exchange_n(&state_page.lock, 0, __ATOMIC_RELEASE) == 2)
		sys_futex_wake(&state_page.lock, FUTEX_WAKE_PRIVATE, 1);
}

#endif
