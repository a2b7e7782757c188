/* SPDX-License-Identifier: MIT
 *
 * One program of several processes; argv[1] says which kind, argv[2] is a
 * program to become or to start.  Who is to wait makes the file "waiting" and
 * opens the test's pipe "go";
 * the lock on "end" is held as long as one of the processes lives; the file
 * "stop" ends what goes on and on.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

extern char **environ;

NOINLINE static void leaf(void)
{
	__asm__ volatile("");
}

NOINLINE static void work(void)
{
	leaf();
	leaf();
}

NOINLINE static void work_later(void)
{
	char c;
	int fd = creat("waiting", 0600);

	close(fd);
	fd = open("go", O_RDONLY);
	if (read(fd, &c, 1) < 0)
		_exit(9);
	work();
}

NOINLINE static void work_on(void)
{
	do {
		work();
		usleep(1000);
	} while (access("stop", F_OK));
}

NOINLINE static void become(const char *program, char **environment)
{
	char *argv[] = {(char *)program, NULL};

	leaf();
	execve(program, argv, environment);
	_exit(9);
}

NOINLINE static void start(const char *program, const char *how)
{
	char *argv[] = {(char *)program, NULL};
	pid_t pid = 0;

	if (!strcmp(how, "system")) {
		if (system(program))
			_exit(9);
		return;
	}
	if (!strcmp(how, "spawn"))
		posix_spawn(&pid, program, NULL, NULL, argv, environ);
	else
		pid = *how == 'v' ? vfork() : fork();
	if (pid == 0) {
		execv(program, argv);
		_exit(9);
	}
	waitpid(pid, NULL, 0);
}

NOINLINE static void stop_here(void)
{
	leaf();
}

NOINLINE static void fork_one(void (*child)(void))
{
	if (fork() == 0) {
		child();
		_exit(0);
	}
}

NOINLINE static void become_daemon(void)
{
	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
	for (int fd = 0; fd < 3; fd++)
		dup2(open("/dev/null", O_RDWR), fd);
	work_later();
}

int main(int argc, char **argv)
{
	const char *how = argv[1];
	char *nothing[] = {NULL};

	if (argc < 2 || flock(open("end", O_RDONLY), LOCK_SH))
		return 9;
	if (!strcmp(how, "exec"))
		become(argv[2], environ);
	if (!strcmp(how, "bare"))
		become(argv[2], nothing);
	if (!strcmp(how, "daemon"))
		become_daemon();
	if (!strcmp(how, "fork"))
		fork_one(work);
	if (!strcmp(how, "outlive"))
		fork_one(work_later);
	if (!strcmp(how, "beside"))
		fork_one(work_on);
	if (argc > 2)
		start(argv[2], how);
	stop_here();
	if (strcmp(how, "outlive"))
		wait(NULL);
	return 0;
}
