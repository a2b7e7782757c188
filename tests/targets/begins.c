/* SPDX-License-Identifier: MIT
 *
 * Functions whose begin has no room for a jump behind the frame pointer's, or
 * which branch before their first line ends.
 */
#include <stdarg.h>
#include <stdio.h>

struct node {
	struct node *next;
	long value;
	char kind;
};

static int total;

static void tell(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	total += vprintf(format, values);
	va_end(values);
}

static int kind_of(struct node *n)
{
	switch (n->kind) {
	case 'a':
		return 1;
	case 'b':
		return 2;
	case 'c':
		return 3;
	case 'd':
		return total;
	default:
		return 0;
	}
}

static int name_of(int kind)
{
	switch (kind) {
	case 1:
		return 'x';
	case 2:
		return 'y';
	default:
		return 'z';
	}
}

static struct node *last_of(struct node *n)
{
	while (n->next)
		n = n->next;
	return n;
}

static long sum_of(struct node *n)
{
	long sum = 0;

	for (; n; n = n->next)
		sum += n->value;
	return sum;
}

static void reset(struct node *n)
{
	for (; n; n = n->next)
		n->value = 0;
}

static int fits(long value)
{
	return (unsigned long)value + 127 <= 255;
}

int main(void)
{
	struct node c = {0, 300, 'c'}, b = {&c, 20, 'b'}, a = {&b, 1, 'a'};

	for (struct node *n = &a; n; n = n->next)
		tell("%d %c %d %.1f\n", kind_of(n), name_of(kind_of(n)),
		     fits(n->value), 0.5);
	tell("%ld %c\n", sum_of(&a), last_of(&a)->kind);
	reset(&a);
	return sum_of(&a) != 0;
}
