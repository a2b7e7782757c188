/* SPDX-License-Identifier: MIT
 *
 * What no tracer of calls can do without: at each call, two readings of the
 * processor's clock.
 */
#include "workload.h"

uint64_t workload(unsigned size, unsigned thread, unsigned n_threads)
{
	uint64_t sum = 0;

	for (unsigned i = thread; i < size; i += n_threads) {
		sum += __builtin_ia32_rdtsc();
		sum += __builtin_ia32_rdtsc();
	}
	return sum & 1;
}

uint64_t workload_calls(unsigned size, unsigned thread, unsigned n_threads)
{
	(void)thread;
	return size / n_threads;
}
