/* SPDX-License-Identifier: MIT
 *
 * Does nothing but call.
 */
#include <stdio.h>

static volatile long sum;

static void leaf(int n)
{
	sum += n;
}

static void work(int n)
{
	int n_more = n * 2;

	for (int i = 0; i < 100; i++)
		leaf(i + n_more);
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;;) {
		work(3);
		sum++; /* `next` must have another line to end at */
	}
}
