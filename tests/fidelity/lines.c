/* SPDX-License-Identifier: MIT
 *
 * The line of each call as well: inlined once, twice and into themselves,
 * called in tail position, by pointers, twice in a line, over several lines.
 */
#include "expect.h"

#define INLINE static inline __attribute__((always_inline))
#define HERE d + 1, __LINE__

static volatile int sink;

QUIET static void told(int d, int line, const char *name)
{
	char text[128];
	char *p = stpcpy(text, name);

	*p++ = '\t';
	*expect_number(p, line) = 0;
	expect(d, text);
}

/* line + 10000: that line, or none. */
enum { OR_NONE = 10000 };

NOINLINE static int leaf(int d, int line)
{
	told(d, line, "leaf");
	return sink++ & 7;
}

INLINE int small(int d, int line)
{
	told(d, line, "small");
	return sink++ & 7;
}

INLINE int medium(int d, int line)
{
	int n;

	told(d, line, "medium");
	n = small(HERE);
	n += leaf(HERE);
	if (n & 1)
		return n;
	return n + small(HERE) + leaf(HERE);
}

INLINE int large(int d, int line)
{
	told(d, line, "large");
	for (int i = 0; i < 3; i++)
		sink += medium(HERE);
	return leaf(HERE);
}

static int countdown(int d, int line, int n)
{
	told(d, line, "countdown");
	small(HERE);
	if (n)
		return countdown(HERE, n - 1);
	return large(HERE);
}

static int odd(int d, int line, int n);

NOINLINE static int even(int d, int line, int n)
{
	told(d, line, "even");
	if (!n)
		return leaf(HERE);
	return odd(HERE, n - 1);
}

NOINLINE static int odd(int d, int line, int n)
{
	told(d, line, "odd");
	return n ? even(HERE, n - 1) : medium(HERE);
}

/* Compilers make one call of the two: no line is better than a wrong one. */
NOINLINE static int same_begin(int d, int line, int n)
{
	told(d, line, "same_begin");
	if (n & 1) {
		small(d + 1, __LINE__ + OR_NONE);
		sink += 2;
	} else {
		small(d + 1, __LINE__ + OR_NONE);
		sink += 5;
	}
	return leaf(HERE);
}

NOINLINE static int by_pointer(int d, int line, int (*f)(int, int))
{
	told(d, line, "by_pointer");
	return f(HERE);
}

NOINLINE static int several(int d, int line)
{
	int n;

	told(d, line, "several");
	n = (leaf(HERE) + leaf(HERE) * small(HERE)) & 15;
	n += small(HERE) ? leaf(HERE) : small(HERE);
	while (n > 3)
		n = n / 2 - (leaf(HERE) & 1);
	do
		small(HERE);
	while (n++ < 4);
	switch (n & 1) {
	case 0:
		return medium(HERE);
	default:
		return leaf(HERE);
	}
}

int main(void)
{
	int d = 0;

	expect(0, "main");
	for (int i = 0; i < 3; i++) {
		small(HERE);
		large(HERE);
		countdown(HERE, 4);
		even(HERE, 5);
		same_begin(HERE, i);
		by_pointer(HERE, leaf);
		by_pointer(HERE, several);
	}
	several(HERE);
	return 0;
}
