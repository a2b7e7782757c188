/* SPDX-License-Identifier: MIT
 *
 * A process that makes another one run argv[1] before it makes another call:
 * for a trace that begins there.
 */
#include <spawn.h>
#include <sys/wait.h>

#define NOINLINE __attribute__((noinline))

extern char **environ;

NOINLINE static void leaf(void)
{
	__asm__ volatile("");
}

NOINLINE static void start(const char *program)
{
	char *argv[] = {(char *)program, NULL};
	pid_t pid = 0;

	if (posix_spawn(&pid, program, NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
	leaf();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		start(argv[1]);
	return 0;
}
