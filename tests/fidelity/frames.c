/* SPDX-License-Identifier: MIT
 *
 * Frames of all kinds: alloca, arrays of variable length, realigned stacks,
 * pushed arguments, cold parts; left by longjmp and by return.
 */
#include "expect.h"
#include <alloca.h>
#include <setjmp.h>

#ifndef LINKAGE
#define LINKAGE static
#endif

static jmp_buf jb;
static volatile int sink;

NOINLINE static void leaf(int d, int jump)
{
	expect(d, "leaf");
	if (jump)
		longjmp(jb, 1);
}

NOINLINE static void with_alloca(int d, int n, int jump)
{
	char *p;

	expect(d, "with_alloca");
	leaf(d + 1, 0);
	p = alloca((size_t)n);
	memset(p, 1, (size_t)n);
	sink += p[n / 2];
	leaf(d + 1, jump);
}

NOINLINE static void with_vla(int d, int n, int jump)
{
	char a[n];

	expect(d, "with_vla");
	memset(a, 2, sizeof(a));
	sink += a[n / 2];
	leaf(d + 1, jump);
}

NOINLINE static void realigned(int d, int jump)
{
	char a[64] __attribute__((aligned(64)));

	expect(d, "realigned");
	memset(a, 3, sizeof(a));
	sink += a[sink & 63];
	leaf(d + 1, jump);
	sink += a[1];
}

#ifdef __x86_64__
typedef float wide __attribute__((vector_size(32)));

/* Its locals are wider than the stack is aligned. */
__attribute__((target("avx"))) NOINLINE static void with_avx(int d, int jump)
{
	volatile wide a = {1, 2, 3, 4, 5, 6, 7, 8}, b = a + a;

	expect(d, "with_avx");
	leaf(d + 1, 0);
	a = b * a;
	leaf(d + 1, jump);
	sink += (int)a[sink & 7];
}

QUIET static int has_avx(void)
{
	return __builtin_cpu_supports("avx");
}
#else
#define with_avx(d, jump) realigned(d, jump)
#define has_avx() 0
#endif

NOINLINE static void realigned_alloca(int d, int n, int jump)
{
	char a[64] __attribute__((aligned(64)));
	char *p;

	expect(d, "realigned_alloca");
	memset(a, 3, sizeof(a));
	p = alloca((size_t)n);
	memset(p, 4, (size_t)n);
	sink += a[sink & 63] + p[n / 2];
	realigned(d + 1, jump);
	sink += a[1];
}

__attribute__((cold)) NOINLINE static void cold_one(int d, int jump)
{
	expect(d, "cold_one");
	leaf(d + 1, jump);
}

NOINLINE LINKAGE void with_cold_part(int d, int unlikely, int jump)
{
	expect(d, "with_cold_part");
	if (__builtin_expect(unlikely, 0)) {
		cold_one(d + 1, 0);
		cold_one(d + 1, jump);
	}
	leaf(d + 1, jump);
}

NOINLINE static void many(int d, int jump, long a, long b, long c, long e,
			  long f, long g)
{
	expect(d, "many");
	sink += (int)(a + b + c + e + f + g);
	leaf(d + 1, jump);
}

NOINLINE static void round(int d, int jump)
{
	expect(d, "round");
	with_alloca(d + 1, 100, 0);
	with_vla(d + 1, 300, 0);
	realigned(d + 1, 0);
	realigned_alloca(d + 1, 77, 0);
	with_cold_part(d + 1, jump, 0);
	many(d + 1, 0, 1, 2, 3, 4, 5, 6);
	if (has_avx())
		with_avx(d + 1, 0);
	switch (jump) {
	case 7:
		if (has_avx())
			with_avx(d + 1, 1);
		break;
	case 1:
		with_alloca(d + 1, 1000, 1);
		break;
	case 2:
		with_vla(d + 1, 500, 1);
		break;
	case 3:
		realigned(d + 1, 1);
		break;
	case 4:
		realigned_alloca(d + 1, 400, 1);
		break;
	case 5:
		with_cold_part(d + 1, 1, 1);
		break;
	case 6:
		many(d + 1, 1, 1, 2, 3, 4, 5, 6);
		break;
	}
	leaf(d + 1, 0);
}

int main(void)
{
	volatile int i;

	expect(0, "main");
	for (i = 0; i < 24; i = i + 1) {
		if (!setjmp(jb))
			round(1, i % 8);
		else
			leaf(1, 0);
	}
	return 0;
}
