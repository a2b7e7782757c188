/* SPDX-License-Identifier: MIT
 *
 * many HOW: 9000 calls, and then it stops: abort, segv, raise or kill.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int total;
static int *volatile nowhere;

static void leaf(int n)
{
	total += n;
}

static void end(const char *how)
{
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*nowhere = 1;
	if (!strcmp(how, "raise"))
		raise(SIGUSR1);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 9000; i++)
		leaf(i);
	end(argv[argc - 1]);
	return 3;
}
