/* SPDX-License-Identifier: MIT
 *
 * Functions that report themselves: inlined into one another, in two places
 * each, and one that is not.
 */
#include <cstrace/cstrace.h>

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS int leaf(int a);
__attribute__((noinline)) int apart(int a);

CSTRACE_FUNC(int, leaf, (int a), (a), { return a * 3; })
CSTRACE_FUNC(int, apart, (int a), (a), { return a + 2; })

ALWAYS int light(int a)
{
	CSTRACE_FUNCTION;
	a = leaf(a); /* in light */
	return a + 1;
}

ALWAYS int middle(int a)
{
	CSTRACE_FUNCTION;
	a = light(a);	 /* first */
	a += leaf(a);	 /* in middle */
	return light(a); /* second */
}

int main(int argc, char **argv)
{
	int n = middle(argc); /* one */

	(void)argv;
	n += apart(n);	/* not inlined */
	n += middle(n); /* other */
	return n == 1;
}
