/* SPDX-License-Identifier: MIT
 *
 * Each function prints what it was called with, as rows show it.
 */
#include <stdio.h>

#ifndef OF
#define OF /* or static */
#endif
#define KEPT __attribute__((noinline, noclone)) OF

struct point {
	long x, y;
};

struct mixed {
	long n;
	double d;
};

struct brief {
	int a;
	char b;
};

struct large {
	long a, b, c;
};

KEPT int many(int a, long b, short c, unsigned d, int e, int f, int g,
	      const char *s)
{
	return printf(
		"many(a=%d, b=%ld, c=%d, d=%u, e=%d, f=%d, g=%d, s=\"%s\")\n",
		a, b, c, d, e, f, g, s);
}

KEPT int floats(double a, float b, double c, double d, double e, double f,
		double g, double h, double i, int n)
{
	return printf("floats(a=%g, b=%g, c=%g, d=%g, e=%g, f=%g, g=%g, h=%g, "
		      "i=%g, n=%d)\n",
		      a, b, c, d, e, f, g, h, i, n);
}

KEPT int structs(struct point p, struct mixed m, struct brief b, int n)
{
	return printf("structs(p={x=%ld, y=%ld}, m={n=%ld, d=%g}, b={a=%d, "
		      "b='%c'}, n=%d)\n",
		      p.x, p.y, m.n, m.d, b.a, b.b, n);
}

KEPT int on_stack(int n, struct large l, struct point p, struct point q,
		  struct point r)
{
	return printf("on_stack(n=%d, l={a=%ld, b=%ld, c=%ld}, p={x=%ld, "
		      "y=%ld}, q={x=%ld, y=%ld}, r={x=%ld, y=%ld})\n",
		      n, l.a, l.b, l.c, p.x, p.y, q.x, q.y, r.x, r.y);
}

/* The compiler may leave some of them out. */
__attribute__((noinline)) OF int spare(int unused, int n, const char *never,
				       struct point p)
{
	(void)unused;
	(void)never;
	return printf("spare(n=%d, y=%ld)\n", n, p.y);
}

/* Which changes what it is called with. */
KEPT long counts(long n, long step)
{
	long sum = 0;

	printf("counts(n=%ld, step=%ld)\n", n, step);
	for (; n > 0; n -= step)
		sum += n;
	return sum;
}

/* Where the frame pointer is not where it would be. */
KEPT int rooms(int n, int m)
{
	char room[n * 10 + 8];

	return printf("rooms(n=%d, m=%d)\n", n, m) +
	       snprintf(room, sizeof(room), "%d", m);
}

KEPT int aligned(int n, long m)
{
	_Alignas(64) volatile char room[64] = {1};

	return printf("aligned(n=%d, m=%ld)\n", n, m) + room[n];
}

int main(void)
{
	static volatile int one = 1;
	struct large l = {6 + one, 7 + one, 8 + one};
	struct point p = {one, 1 + one}, q = {2 + one, 3 + one},
		     r = {4 + one, 5 + one};
	struct mixed m = {-6 - one, 1.5 + one};
	struct brief b = {10 + one, (char)('w' + one)};
	long sum = 0;

	for (int i = 0; i < 3; i++) {
		sum += many(i, -2L * i, (short)(2 + one), 3u + (unsigned)one,
			    -4 - one, 5 + one, 7 + i, "text" + (one - 1));
		sum += floats(0.5 * one, 1.5F * (float)one, 2.5 * one,
			      3.5 * one, 4.5 * one, 5.5 * one, 6.5 * one,
			      7.5 * one, 8.5 + i, i);
		sum += structs(p, m, b, i);
		sum += on_stack(i, l, p, q, r);
		sum += spare(i, i + 1, "no" + (one - 1), p);
		sum += counts(10 + i, 2 + one);
		sum += rooms(i, 4 + one);
		sum += aligned(i, 5 + one);
	}
	return sum == 0;
}
