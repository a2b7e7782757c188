/* SPDX-License-Identifier: MIT
 *
 * Blocks inside calls until its standard input says something: each line
 * makes one more round, "q" or the end of the input ends it.
 */
#include <stdio.h>
#include <unistd.h>

static volatile int n_rounds;

static int heard(void)
{
	char c, first = 'q';
	int n = 0;

	while (read(0, &c, 1) == 1 && c != '\n') {
		if (n++ == 0)
			first = c;
	}
	return n ? first : 'q';
}

static void quick(void)
{
	n_rounds++;
}

static int round_trip(void)
{
	quick();
	quick();
	return heard() != 'q';
}

int main(void)
{
	while (round_trip())
		;
	printf("rounds %d\n", n_rounds / 2);
	return 0;
}
