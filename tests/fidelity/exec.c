/* SPDX-License-Identifier: MIT
 *
 * exec: into this program again by all the ways there are, and into one
 * without hooks.  Each program is a tree of its own; the calls that were open
 * at the exec stay open.
 */
#include "expect.h"
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

extern char **environ;

static char self[4096];

NOINLINE static void leaf(int d)
{
	expect(d, "leaf");
}

NOINLINE static void program(int d)
{
	expect(d, "program");
	for (int i = 0; i < 3; i++)
		leaf(d + 1);
}

NOINLINE static void become(int d, const char *path)
{
	char *argv[] = {self, "again", NULL};

	expect(d, "become");
	leaf(d + 1);
	execv(path, argv);
	_exit(9);
}

NOINLINE static void by_fork(int d, const char *path)
{
	pid_t pid;

	expect(d, "by_fork");
	pid = fork();
	if (pid == 0) {
		expect(0, "main");
		expect(d, "by_fork");
		become(d + 1, path);
	}
	waitpid(pid, NULL, 0);
	leaf(d + 1);
}

NOINLINE static void by_vfork(int d)
{
	char *argv[] = {self, "again", NULL};
	pid_t pid;

	expect(d, "by_vfork");
	pid = vfork();
	if (pid == 0) {
		execv(self, argv);
		_exit(9);
	}
	waitpid(pid, NULL, 0);
	leaf(d + 1);
}

NOINLINE static void by_spawn(int d)
{
	char *argv[] = {self, "again", NULL};
	pid_t pid;

	expect(d, "by_spawn");
	if (!posix_spawn(&pid, self, NULL, NULL, argv, environ))
		waitpid(pid, NULL, 0);
	leaf(d + 1);
}

NOINLINE static void by_shell(int d)
{
	char line[sizeof(self) + 16];

	expect(d, "by_shell");
	snprintf(line, sizeof(line), "'%s' again; true", self);
	if (system(line))
		_exit(9);
	leaf(d + 1);
}

NOINLINE static void *thread(void *arg)
{
	expect(0, "thread");
	become(1, self);
	return arg;
}

/* The other threads end, and the one that execs becomes the first. */
NOINLINE static void by_thread(int d)
{
	pthread_t t;
	pid_t pid;

	expect(d, "by_thread");
	pid = fork();
	if (pid == 0) {
		expect(0, "main");
		expect(d, "by_thread");
		leaf(d + 1);
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
	}
	waitpid(pid, NULL, 0);
	leaf(d + 1);
}

int main(int argc, char **argv)
{
	expect(0, "main");
	(void)argv;
	if (argc > 1) {
		program(1);
		return 0;
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 9;
	by_fork(1, self);
	by_fork(1, "/bin/true");
	by_vfork(1);
	by_spawn(1);
	by_shell(1);
	by_thread(1);
	become(1, self);
	return 9;
}
