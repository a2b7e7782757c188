/* SPDX-License-Identifier: MIT
 *
 * The workload of the sync mode and of conditions: size calls of a function
 * that does nothing, two events each.
 */
#include "workload.h"

#define QUIET __attribute__((no_instrument_function))

void turn(unsigned n, unsigned half);

__attribute__((noinline)) void turn(unsigned n, unsigned half)
{
	__asm__ volatile("" ::"r"(n), "r"(half));
}

QUIET uint64_t workload(unsigned size, unsigned thread, unsigned n_threads)
{
	for (unsigned i = thread; i < size; i += n_threads)
		turn(i, i / 2);
	return size;
}

QUIET uint64_t workload_calls(unsigned size, unsigned thread,
			      unsigned n_threads)
{
	uint64_t n = 0;

	for (unsigned i = thread; i < size; i += n_threads)
		n++;
	return n;
}
