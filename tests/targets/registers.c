/* SPDX-License-Identifier: MIT
 *
 * Functions whose arguments and results are in all kinds of registers, and on
 * the stack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALONE __attribute__((noinline))

struct pair {
	long a;
	double b;
};

enum color { RED, GREEN };

ALONE int add(int a, int b)
{
	__asm__("" : "+r"(a));
	return a + b;
}

ALONE long many(char c, short s, unsigned u, long l, int e, int f, int g,
		double d, long h)
{
	__asm__("" : "+r"(h));
	return c + s + (long)u + l + e + f + g + (long)d + h;
}

ALONE char first(const char *text)
{
	__asm__("" : "+r"(text));
	return text ? *text : '-';
}

ALONE double half(double d, float f)
{
	__asm__("" : "+x"(d));
	return d / 2 + (double)f;
}

ALONE struct pair make(int a, double b)
{
	__asm__("" : "+r"(a));
	return (struct pair){a, b};
}

ALONE enum color next(enum color c)
{
	__asm__("" : "+r"(c));
	return c == RED ? GREEN : RED;
}

ALONE void add_to(long *sum, long n)
{
	*sum += n;
}

int main(void)
{
	char *heap = strdup("a text on the heap");
	long sum = add(-1, 2);

	for (int i = 0; i < 5000; i++) /* more than a chunk has */
		add_to(&sum, add(i, 1000000));
	sum += many('a', -2, 3000000000u, 4, 5, 6, -7, 2.5, 1l << 40);
	sum += first("short") + first(heap) + first(NULL);
	sum += (long)half(3.5, 1.25f) + (long)make(4, 2.5).b;
	sum += next(RED) + next(GREEN);
	printf("%ld\n", sum);
	free(heap);
	return 0;
}
