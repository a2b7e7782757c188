/* SPDX-License-Identifier: MIT
 *
 * Calls whose values a hook copies, thirty of them in each loop: of two
 * integers or, with SHORT_TEXT, of one short C string.
 */
#include "workload.h"

enum { LOOPS = 1000, CALLS_A_LOOP = 30 };

#define QUIET __attribute__((no_instrument_function))

#ifdef SHORT_TEXT
static const char *const words[] = {"red", "green", "yellow", "a longer one"};

static __attribute__((noinline)) int called(const char *word)
{
	return word[0] + word[1];
}

#define CALL(i) called(words[(i) % 4])
#else
static __attribute__((noinline)) int called(int a, int b)
{
	return a ^ (b << 3);
}

#define CALL(i) called((int)(i), (int)((i) >> 3))
#endif

static __attribute__((noinline)) uint64_t loop(unsigned from)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CALLS_A_LOOP; i++)
		sum += (uint64_t)CALL(from + i);
	return sum;
}

uint64_t workload(unsigned size, unsigned thread, unsigned n_threads)
{
	uint64_t sum = 0;

	for (unsigned i = thread; i < size * LOOPS; i += n_threads)
		sum += loop(i);
	return sum;
}

QUIET uint64_t workload_calls(unsigned size, unsigned thread,
			      unsigned n_threads)
{
	uint64_t n = size * LOOPS;

	return (n - thread + n_threads - 1) / n_threads * (1 + CALLS_A_LOOP) +
	       1;
}
