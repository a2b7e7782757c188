/* SPDX-License-Identifier: MIT
 *
 * Runs until it is killed and does a little work ten times a second, or after
 * each so many tenths as it is given: something to attach to.
 */
#include <stdlib.h>
#include <unistd.h>

static unsigned n_tenths = 1;
static int n_beats, n_rests;

static void rest(void)
{
	n_rests++;
	usleep(n_tenths * 100000);
}

static void measure(int beat)
{
	n_beats += beat;
}

static void bar(void)
{
	for (int beat = 1; beat <= 3; beat++) {
		measure(beat);
		rest();
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		n_tenths = (unsigned)atoi(argv[1]);
	for (;;)
		bar();
}
