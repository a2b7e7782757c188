/* SPDX-License-Identifier: MIT
 *
 * A process that forks before it makes another call: for a trace that begins
 * there.
 */
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

NOINLINE static void leaf(void)
{
	__asm__ volatile("");
}

NOINLINE static void divide(void)
{
	pid_t pid;

	leaf();
	pid = fork(); /* here */
	if (pid)
		waitpid(pid, NULL, 0);
	else
		leaf();
}

NOINLINE static void outer(void)
{
	divide();
}

int main(void)
{
	outer();
	return 0;
}
