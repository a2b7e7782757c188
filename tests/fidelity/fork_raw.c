/* SPDX-License-Identifier: MIT
 *
 * Processes made past libc's fork(): _Fork, raw clone; vfork and posix_spawn
 * with exec.
 */
#include "expect.h"
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

NOINLINE static void leaf(int d)
{
	expect(d, "leaf");
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
	return 0;
}
