/* SPDX-License-Identifier: MIT
 *
 * Functions with arguments of many types, called in a known order, for
 *logpoints that need no stop.
 *
 *	logged hot N	tick() is called N times
 *	logged fork	a child calls count(7)
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum color { RED, GREEN, BLUE };

struct point {
	int x, y;
};

static volatile long sum;

static void count(int n)
{
	sum += n;
}

static void mix(long l, unsigned u, const char *text, enum color c, bool b,
		struct point at, void *nothing)
{
	sum += l + u + (long)strlen(text) + c + b + at.x + at.y + !nothing;
	count((int)l);
}

static void tick(int n)
{
	sum += n;
}

static void fork_child(void)
{
	if (!fork()) {
		count(7);
		_exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	if (argc > 2)
		for (int i = 0; i < atoi(argv[2]); i++)
			tick(i);
	if (argc == 2)
		fork_child();
	mix(-3, 200, "a \"b\"", GREEN, true, (struct point){4, -5}, NULL);
	mix(5, 0, "", BLUE, false, (struct point){0, 1}, NULL);
	printf("%ld\n", sum);
	return 0;
}
