/* SPDX-License-Identifier: MIT
 *
 * Ways to have children, and to become another: argv[1] says which.  Who is
 * started says "say" or "leaf".  Where there is a file "end", a lock on it is
 * held as long as one of the processes lives.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

extern char **environ;

static char own_path[4096];

NOINLINE static void leaf(void)
{
	__asm__ volatile("");
}

NOINLINE static void work(void)
{
	leaf();
	leaf();
}

NOINLINE static void become(const char *what)
{
	char *argv[] = {own_path, (char *)what, NULL};

	execv(own_path, argv);
	_exit(9);
}

NOINLINE static void say(void)
{
	printf("hi\nho\n");
	leaf();
}

NOINLINE static void by_popen(void)
{
	char command[sizeof(own_path) + 10], line[100];
	FILE *f;

	snprintf(command, sizeof(command), "%s say", own_path);
	f = popen(command, "r");
	while (fgets(line, sizeof(line), f))
		leaf();
	pclose(f);
	work();
}

NOINLINE static void by_spawn(void)
{
	char *argv[] = {own_path, "leaf", NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	posix_spawn(&pid, own_path, &actions, NULL, argv, environ);
	waitpid(pid, NULL, 0);
	posix_spawn_file_actions_destroy(&actions);
	work();
}

NOINLINE static void by_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		leaf();
		become("leaf");
	}
	waitpid(pid, NULL, 0);
	work();
}

static int begun[2];

static void *exec_beside(void *arg)
{
	char byte;

	if (read(begun[0], &byte, 1) == 1)
		become("leaf");
	return arg;
}

NOINLINE static void by_thread(void)
{
	pthread_t thread;

	if (pipe2(begun, O_CLOEXEC) ||
	    pthread_create(&thread, NULL, exec_beside, NULL) ||
	    write(begun[1], "", 1) != 1)
		return;
	for (;;)
		pause();
}

NOINLINE static void by_descriptor(void)
{
	char *argv[] = {own_path, "leaf", NULL};

	fexecve(open(own_path, O_RDONLY | O_CLOEXEC), argv, environ);
}

/* A pool that execs nothing. */
NOINLINE static void pool(void)
{
	for (int i = 0; i < 4; i++)
		if (!fork()) {
			for (int k = 0; k <= i; k++)
				work();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	work();
}

NOINLINE static void fork_late(const int *go)
{
	char byte;

	if (!fork()) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 0)
			work();
		_exit(0);
	}
}

/* None makes a call before all are there. */
NOINLINE static void crowd(void)
{
	int go[2];

	if (pipe(go))
		return;
	for (int i = 0; i < 100; i++)
		fork_late(go);
	close(go[1]);
	while (wait(NULL) > 0)
		;
}

NOINLINE static void family(int depth)
{
	for (int i = 0; depth && i < 2; i++)
		if (!fork()) {
			family(depth - 1);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static void *fork_beside(void *arg)
{
	if (!fork()) {
		work();
		_exit(0);
	}
	wait(NULL);
	return arg;
}

NOINLINE static void from_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, fork_beside, NULL);
	pthread_join(thread, NULL);
	work();
}

NOINLINE static pid_t returns_twice(void)
{
	return fork();
}

NOINLINE static void through_return(void)
{
	if (returns_twice())
		wait(NULL);
	work();
}

static int in_clone(void *arg)
{
	work();
	return arg != NULL;
}

/* In the same memory, and on the same thread's data. */
NOINLINE static void by_clone(void)
{
	enum { SIZE = 256 << 10 };
	char *stack = malloc(SIZE);
	int pid = clone(in_clone, stack + SIZE, CLONE_VM | SIGCHLD, NULL);

	waitpid(pid, NULL, 0);
	free(stack);
	work();
}

NOINLINE static void close_all(void)
{
	closefrom(3);
	if (!fork()) {
		closefrom(0);
		work();
		_exit(0);
	}
	wait(NULL);
}

NOINLINE static void killed(void)
{
	if (!fork()) {
		work();
		raise(SIGKILL);
	}
	wait(NULL);
}

NOINLINE static void family_of_three(void)
{
	family(3);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {
		{"say", say},
		{"popen", by_popen},
		{"spawn", by_spawn},
		{"vfork", by_vfork},
		{"thread", by_thread},
		{"descriptor", by_descriptor},
		{"pool", pool},
		{"crowd", crowd},
		{"family", family_of_three},
		{"beside", from_thread},
		{"return", through_return},
		{"clone", by_clone},
		{"close", close_all},
		{"kill", killed},
		{"leaf", leaf},
	};

	flock(open("end", O_RDONLY), LOCK_SH);
	if (argc < 2 ||
	    readlink("/proc/self/exe", own_path, sizeof(own_path) - 1) < 0)
		return 9;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].run();
	return 3;
}
