/* SPDX-License-Identifier: MIT
 *
 * Processes made past libc's fork(): _Fork, clone() and its system call, also
 * where the parent has left what was open by the child's first call; vfork and
 * posix_spawn with exec.
 */
#include "expect.h"
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

NOINLINE static void leaf(int d)
{
	expect(d, "leaf");
}

NOINLINE static void leaf_on(const char *stack, int d)
{
	expect_on(stack, d, "leaf_on");
}

NOINLINE static void wait_for(int d, pid_t pid)
{
	expect(d, "wait_for");
	waitpid(pid, NULL, 0);
}

NOINLINE static void by_clone(int d, int round)
{
	pid_t pid;

	expect(d, "by_clone");
	pid = round & 1 ? _Fork()
			: (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		expect(0, "main");
		expect(1, "by_clone");
		leaf(2);
		_exit(0);
	}
	wait_for(d + 1, pid);
}

enum { N_WAYS = 3 };

QUIET static pid_t fork_by(int way)
{
	switch (way) {
	case 0:
		return _Fork();
	case 1:
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	default:
		return (pid_t)syscall(SYS_fork);
	}
}

/* The child makes no call before it gets a byte. */
NOINLINE static pid_t apart(int d, int way, const int *gate)
{
	char byte;
	pid_t pid;

	expect(d, "apart");
	pid = fork_by(way);
	if (pid)
		return pid;
	expect(0, "main");
	expect(1, "go_apart");
	expect(2, "apart");
	if (read(gate[0], &byte, 1) != 1)
		_exit(1);
	leaf(d + 1);
	return 0;
}

NOINLINE static void let_go(int d, const int *gate, pid_t pid)
{
	expect(d, "let_go");
	leaf(d + 1);
	if (write(gate[1], "", 1) == 1)
		wait_for(d + 1, pid);
}

NOINLINE static void go_apart(int d, int way)
{
	int gate[2];
	pid_t pid;

	expect(d, "go_apart");
	if (pipe(gate))
		return;
	pid = apart(d + 1, way, gate);
	if (!pid) {
		leaf(d + 1);
		_exit(0);
	}
	let_go(d + 1, gate, pid);
	close(gate[0]);
	close(gate[1]);
}

QUIET static int on_new_stack(void *gate)
{
	char byte;

	expect(0, "main");
	expect(1, "afar");
	if (read(*(const int *)gate, &byte, 1) != 1)
		return 1;
	leaf_on("new", 0);
	return 0;
}

/* What its parent had open stays open on the child's first stack. */
NOINLINE static void afar(int d)
{
	static char stack[65536] __attribute__((aligned(16)));
	int gate[2];
	pid_t pid;

	expect(d, "afar");
	if (pipe(gate))
		return;
	pid = clone(on_new_stack, stack + sizeof(stack), SIGCHLD, gate);
	let_go(d + 1, gate, pid);
	close(gate[0]);
	close(gate[1]);
}

NOINLINE static void by_vfork(int d)
{
	pid_t pid;

	expect(d, "by_vfork");
	pid = vfork();
	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	wait_for(d + 1, pid);
}

NOINLINE static void by_spawn(int d)
{
	char *argv[] = {"true", NULL};
	pid_t pid;

	expect(d, "by_spawn");
	if (!posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ))
		wait_for(d + 1, pid);
}

int main(void)
{
	expect(0, "main");
	for (int i = 0; i < 4; i++) {
		by_clone(1, i);
		by_vfork(1);
		by_spawn(1);
		if (system("true"))
			return 1;
		leaf(1);
	}
	for (int way = 0; way < N_WAYS; way++)
		go_apart(1, way);
	afar(1);
	return 0;
}
