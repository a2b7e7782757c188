/* SPDX-License-Identifier: MIT
 *
 * Runs until it is killed and does a little work ten times a second: something
 * to attach to.
 */
#include <unistd.h>

static int n_beats, n_rests;

static void rest(void)
{
	n_rests++;
	usleep(100000);
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

int main(void)
{
	for (;;)
		bar();
}
