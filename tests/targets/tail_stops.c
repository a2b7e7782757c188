/* SPDX-License-Identifier: MIT
 *
 * Optimized, begins() goes on by a jump to middle(), and that to last();
 * leaves() goes on so in libc.
 */
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
#define NAKED \
	__attribute__((naked, noinline, aligned(1), no_instrument_function))

enum { LONG_MS = 50 };

static volatile int sink;

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

APART int last(int n)
{
	long end = now_ms() + (n == 3 ? LONG_MS : 0);

	while (now_ms() < end)
		continue;
	return sink + n * 4;
}

APART int middle(int n)
{
	sink = 0;
	return last(n);
}

APART int begins(int n)
{
	sink = n;
	return middle(n);
}

APART void after(void)
{
	sink = 1;
}

/* Its end has no room for a patch: the next function begins behind it. */
NAKED int ends_unseen(int n)
{
	__asm__("test %edi, %edi\n"
		"je 1f\n"
		"xor %eax, %eax\n"
		"1: ret\n");
}

NAKED void is_behind(void)
{
	__asm__("mov $1, %eax\n"
		"ret\n");
}

APART int to_unseen(int n)
{
	sink = n;
	return ends_unseen(n);
}

APART int takes_seven(int a, int b, int c, int d, int e, int f, int g)
{
	sink = a + b + c + d + e + f + g;
	return sink;
}

/* What it pushes does not reach the return address of ends_unseen(). */
APART int pushes_next(int n)
{
	int seen = ends_unseen(n);

	return seen + takes_seven(n, 1, 2, 3, 4, 5, 6);
}

APART void finished(void)
{
	sink = 3;
}

APART void leaves(void *p)
{
	sink = 2;
	free(p);
}

APART int odd(int n);

APART int even(int n)
{
	sink = n;
	return n ? odd(n - 1) : 1;
}

APART int odd(int n)
{
	sink = n;
	return n ? even(n - 1) : 0;
}

int main(void)
{
	int (*volatile called)(int) = begins;

	for (int i = 0; i < 5; i++) {
		sink += begins(i);
		after();
		sink += called(i);
		after();
		leaves(malloc(8));
		after();
		to_unseen(i);
		after();
		pushes_next(i);
		is_behind();
	}
	for (int i = 0; i < 3; i++)
		leaves(NULL);
	sink += even(100);
	after();
	finished();
	return 0;
}
