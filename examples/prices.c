/* SPDX-License-Identifier: MIT
 *
 * Nobody instrumented it: a price list is sorted by a comparison that parses
 * both lines anew each time.  Where the time goes is in libc, but whose fault
 * it is says the stack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_LINES = 100000 };

static char *lines[N_LINES];

static double price_of(const char *line)
{
	return strtod(strchr(line, '=') + 1, NULL);
}

static int by_price(const void *a, const void *b)
{
	double x = price_of(*(char *const *)a);
	double y = price_of(*(char *const *)b);

	return (x > y) - (x < y);
}

static void make_lines(void)
{
	unsigned seed = 1;

	for (int i = 0; i < N_LINES; i++) {
		char line[64];

		seed = seed * 1103515245 + 12345;
		snprintf(line, sizeof(line), "item %d=%u.%02u", i,
			 seed >> 16 & 1023, seed >> 8 & 63);
		lines[i] = strdup(line);
	}
}

static void sort_lines(void)
{
	qsort(lines, N_LINES, sizeof(*lines), by_price);
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		make_lines();
		sort_lines();
	}
	printf("dearest: %s\n", strchr(lines[N_LINES - 1], '=') + 1);
	return 0;
}
