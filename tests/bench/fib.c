/* SPDX-License-Identifier: MIT
 *
 * The smallest function that calls: all of its time is the hooks'.  Each of
 * several threads takes a smaller number, so that the sum stays about equal.
 */
#include "workload.h"

#define QUIET __attribute__((no_instrument_function))

/* External, so that no compiler clones it. */
unsigned fib(unsigned n);

unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* fib(n - k) has about 1 / 1.618^k of the calls. */
QUIET static unsigned share(unsigned size, unsigned n_threads)
{
	double part = 1.3 / n_threads;

	for (; part < 1 && size > 1; part *= 1.618)
		size--;
	return size;
}

QUIET uint64_t workload(unsigned size, unsigned thread, unsigned n_threads)
{
	(void)thread;
	return fib(share(size, n_threads));
}

/* calls(n) = 1 + calls(n - 1) + calls(n - 2) */
QUIET uint64_t workload_calls(unsigned size, unsigned thread,
			      unsigned n_threads)
{
	uint64_t below = 1, calls = 1;
	unsigned n = share(size, n_threads);

	(void)thread;
	for (unsigned i = 2; i <= n; i++) {
		uint64_t next = 1 + calls + below;

		below = calls;
		calls = next;
	}
	return calls;
}
