/* SPDX-License-Identifier: MIT
 *
 * Functions of many shapes, for a plan: what they print depends on all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE void nothing(void)
{
	__asm__ volatile("");
}

NOINLINE int constant(void)
{
	__asm__ volatile("");
	return 17;
}

static jmp_buf back;

NOINLINE void deep(int n)
{
	if (!n)
		longjmp(back, 1);
	deep(n - 1);
	nothing();
}

NOINLINE int jumps(void)
{
	volatile int n = 0;

	if (!setjmp(back))
		n = 1;
	if (n++ < 5)
		deep(n * 3);
	return n;
}

NOINLINE int choose(int x)
{
	switch (x) {
	case 0:
		return fib(3);
	case 1:
		return puts("one");
	case 2:
		return fib(4) + 1;
	case 3:
		return constant();
	case 4:
		return fib(2);
	case 5:
		return x * 3;
	case 6:
		return atoi("7");
	case 7:
		nothing();
		return 70;
	default:
		return -1;
	}
}

NOINLINE int tail(int x)
{
	if (x > 10)
		return fib(x - 8);
	return choose(x);
}

typedef int handler(int);

NOINLINE int indirect(handler *h, int x)
{
	return h(x + 1);
}

/* An interpreter whose cases are labels. */
NOINLINE int interpret(const char *code)
{
	static void *const labels[] = {&&add, &&twice, &&call, &&end};
	int value = 1;

	goto *labels[*code - '0'];
add:
	value += 3;
	goto *labels[*++code - '0'];
twice:
	value *= 2;
	goto *labels[*++code - '0'];
call:
	value += fib(value % 7);
	goto *labels[*++code - '0'];
end:
	return value;
}

NOINLINE long sum(int n, ...)
{
	va_list args;
	long total = 0;

	va_start(args, n);
	while (n--)
		total += va_arg(args, int);
	va_end(args);
	return total;
}

NOINLINE double mean(double a, double b, double c, float d)
{
	return (a + b * 2 + c * 3 + (double)d) / 4;
}

struct big {
	long a[9];
};

NOINLINE struct big make_big(long first)
{
	struct big b;

	for (int i = 0; i < 9; i++)
		b.a[i] = first * i;
	return b;
}

NOINLINE int count_bits(unsigned long x)
{
	int n = 0;

	for (; x; x &= x - 1)
		n++;
	return n;
}

NOINLINE void *room(size_t n)
{
	char *p = __builtin_alloca(n + 1);

	memset(p, 'x', n);
	p[n] = '\0';
	return strdup(p);
}

NOINLINE int is_even(unsigned n);

NOINLINE int is_odd(unsigned n)
{
	return n ? is_even(n - 1) : 0;
}

NOINLINE int is_even(unsigned n)
{
	return n ? is_odd(n - 1) : 1;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int all[] = {5, 3, 9, 1, 7}, total = 0;
	char *text = room(20);

	printf("%d %d\n", fib(20), jumps());
	for (int i = 0; i < 14; i++)
		total += tail(i) + indirect(fib, i % 5);
	printf("%d %d\n", total, interpret("0120212003"));
	printf("%ld %.3f %ld\n", sum(4, 1, 2, 3, constant()),
	       mean(1, 2.5, 3.25, 4.5f), make_big(3).a[8]);
	printf("%d %s %d\n", count_bits(0xf0f0f0f0f1ul), text, is_odd(101));
	qsort(all, 5, sizeof(*all), compare);
	printf("%d%d%d%d%d\n", all[0], all[1], all[2], all[3], all[4]);
	free(text);
	return 3;
}
