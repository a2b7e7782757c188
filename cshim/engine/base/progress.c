/* SPDX-License-Identifier: MIT
 *
 * Counts what the long call that is under way has gone through; another thread
 * reads it.
 */
#include "base/progress.h"
#include "cstrace/engine.h"

#include <stdatomic.h>

static _Atomic uint64_t n_all, n_done;

void progress_begin(uint64_t n_calls)
{
	atomic_store(&n_done, 0);
	atomic_store(&n_all, n_calls);
}

void progress_add(uint32_t n_calls)
{
	uint64_t n = atomic_load_explicit(&n_done, memory_order_relaxed);

	atomic_store_explicit(&n_done, n + n_calls, memory_order_relaxed);
}

/* A call may go through some of the trace twice, to look for -from. */
int cst_progress(uint64_t *n_calls)
{
	uint64_t all = atomic_load(&n_all);
	uint64_t done = atomic_load_explicit(&n_done, memory_order_relaxed);

	if (!all)
		return -1;
	*n_calls = all;
	return done < all ? (int)((unsigned __int128)done * 100 / all) : 99;
}
