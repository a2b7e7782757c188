/* SPDX-License-Identifier: MIT
 *
 * More calls than a terminal can draw: argv[2] times step(), then the file
 * argv[1] is there. */
#include <stdio.h>
#include <stdlib.h>

static int sum;

static void leaf(int n)
{
	sum += n;
}

static void step(int n)
{
	leaf(n);
	if (n % 3)
		leaf(n + 1);
}

static void done(const char *path)
{
	FILE *f = fopen(path, "w");

	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	for (int i = 0; i < atoi(argv[2]); i++)
		step(i);
	done(argv[1]);
	return 0;
}
