/* SPDX-License-Identifier: MIT
 *
 * Frames of C that exceptions pass: exceptions_far.cc.
 */
#include "../expect.h"

void through_c(int d, void (*f)(int));
void through_sort(int d, void (*f)(int));

static void (*callback)(int);
static int callback_depth;

NOINLINE static void deeper(int d, int n, void (*f)(int))
{
	expect(d, "deeper");
	if (n)
		deeper(d + 1, n - 1, f);
	else
		f(d + 1);
	expect(d + 1, "never");
}

NOINLINE void through_c(int d, void (*f)(int))
{
	expect(d, "through_c");
	deeper(d + 1, 3, f);
}

static int compare(const void *a, const void *b)
{
	expect(callback_depth, "compare");
	callback(callback_depth + 1);
	return a < b;
}

/* Through the C library too. */
NOINLINE void through_sort(int d, void (*f)(int))
{
	int numbers[2] = {2, 1};

	expect(d, "through_sort");
	callback = f;
	callback_depth = d + 1;
	qsort(numbers, 2, sizeof(numbers[0]), compare);
	expect(d + 1, "never");
}
