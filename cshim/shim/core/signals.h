/* SPDX-License-Identifier: MIT
 *
 * Work that a signal handler must not interrupt.  Every signal is blocked
 * meanwhile, also those that libc keeps for itself.  Where a sandbox forbids
 * that, the hooks in such a handler see that the thread is busy: their records
 * are lost, and counted.
 */
#ifndef SHIM_SIGNALS_H
#define SHIM_SIGNALS_H

#include <signal.h>
#include "core/thread.h"
#include "kernel/syscall_gate.h"

/* No mask has it: nobody can block SIGKILL. */
#define NOT_BLOCKED (1ull << (SIGKILL - 1))

/* Blocks all signals.  Returns what signals_restore() needs to undo it. */
static inline uint64_t signals_block(void)
{
	uint64_t all = ~0ull, before = 0;

	gate_hold();
	if (gate_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all,
		      (long)&before, sizeof(all), 0, 0) >= 0)
		return before;
	self.busy_sp = own_sp();
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return NOT_BLOCKED;
}

/* Undoes signals_block(). It does not pass the gate: a thread's own filter
 * cannot have been added in between, and one for all threads waits for this
 * one. */
static inline void signals_restore(uint64_t before)
{
	if (before != NOT_BLOCKED) {
		syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0,
			 sizeof(before), 0, 0);
	} else {
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		self.busy_sp = 0;
	}
	gate_release();
}

#endif
