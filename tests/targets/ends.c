/* SPDX-License-Identifier: MIT
 *
 * Ways to end, three calls deep: ends return|exit|_exit|quick_exit|abort|
 * segv|kill|thread_exit.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
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
	leaf(1);
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "_exit"))
		_exit(4);
	if (!strcmp(how, "quick_exit"))
		quick_exit(5);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*nowhere = 1;
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "thread_exit"))
		pthread_exit(NULL);
	leaf(2);
}

static void middle(const char *how)
{
	leaf(0);
	end(how);
	leaf(3);
}

int main(int argc, char **argv)
{
	middle(argc > 1 ? argv[1] : "return");
	return 0;
}
