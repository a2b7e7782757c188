/* SPDX-License-Identifier: MIT
 *
 * runs_another HOW: two calls, then itself once more, by one of libc's ways, in
 * an environment that it has made itself.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static void leaf(void)
{
}

QUIET static int is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* The functions that are given an environment; they return if they fail or go
 * on beside it. */
QUIET static int with_environment(const char *how, const char *path)
{
	char *arguments[] = {"again", NULL}, *environment[] = {"A=B", NULL};
	int status = 0;
	pid_t pid = 0;

	if (is(how, "execve"))
		execve(path, arguments, environment);
	if (is(how, "execvpe"))
		execvpe(path, arguments, environment);
	if (is(how, "fexecve"))
		fexecve(open(path, O_RDONLY), arguments, environment);
	if (is(how, "execveat"))
		execveat(AT_FDCWD, path, arguments, environment, 0);
	if (is(how, "execle"))
		execle(path, "a", "b", "c", "d", "e", "f", "g", NULL,
		       environment);
	if (is(how, "syscall"))
		syscall(SYS_execve, path, arguments, environment);
	if (is(how, "posix_spawn"))
		posix_spawn(&pid, path, NULL, NULL, arguments, environment);
	if (is(how, "posix_spawnp"))
		posix_spawnp(&pid, path, NULL, NULL, arguments, environment);
	if (is(how, "vfork")) {
		pid = vfork();
		if (!pid) {
			execve(path, arguments, environment);
			_exit(1);
		}
	}
	if (is(how, "nowhere"))
		execve("/nowhere/at/all", arguments, environment);
	return pid && waitpid(pid, &status, 0) == pid ? status : 0;
}

/* Through a shell; they come back. */
QUIET static int with_a_shell(const char *how, const char *path)
{
	FILE *pipe;

	if (!is(how, "system") && !is(how, "popen"))
		return 0;
	clearenv();
	if (is(how, "system"))
		return system(path);
	pipe = popen(path, "w");
	return pipe ? pclose(pipe) : 0;
}

QUIET static void with_what_there_is(const char *how, const char *path)
{
	char *arguments[] = {"again", NULL};

	if (is(how, "kept"))
		execv(path, arguments);
	if (is(how, "unsetenv"))
		unsetenv("LD_PRELOAD");
	else
		clearenv();
	if (is(how, "execv") || is(how, "unsetenv"))
		execv(path, arguments);
	if (is(how, "execvp"))
		execvp(path, arguments);
	if (is(how, "execl"))
		execl(path, "a", "b", "c", "d", "e", "f", "g", NULL);
	if (is(how, "execlp"))
		execlp(path, "a", "b", "c", "d", "e", "f", "g", NULL);
}

QUIET int main(int argc, char **argv)
{
	int status;

	leaf();
	leaf();
	if (argc != 2)
		return argc + 10;
	status = with_environment(argv[1], argv[0]);
	if (!status)
		status = with_a_shell(argv[1], argv[0]);
	if (!is(argv[1], "nowhere") && !status)
		with_what_there_is(argv[1], argv[0]);
	return WEXITSTATUS(status);
}
