/* SPDX-License-Identifier: MIT
 *
 * fork: the child's tree begins with the calls open at the fork, and it
 * returns through them; children of children; fork from a thread.
 */
#include "expect.h"
#include <pthread.h>
#include <sys/wait.h>

NOINLINE static void leaf(int d)
{
	expect(d, "leaf");
}

NOINLINE static void child_work(int d)
{
	expect(d, "child_work");
	leaf(d + 1);
}

NOINLINE static int split(int d, int grandchild)
{
	pid_t pid;

	expect(d, "split");
	leaf(d + 1);
	pid = fork();
	if (pid) {
		leaf(d + 1);
		waitpid(pid, NULL, 0);
		return 1;
	}
	expect(0, "main");
	expect(1, "branch");
	if (grandchild)
		expect(2, "branch");
	expect(d, "split");
	child_work(d + 1);
	return 0;
}

NOINLINE static int branch(int d, int more)
{
	int is_parent;

	expect(d, "branch");
	is_parent = split(d + 1, d > 1);
	leaf(d + 1);
	if (!is_parent && more)
		branch(d + 1, 0);
	return is_parent;
}

NOINLINE static void *thread(void *arg)
{
	pid_t pid;

	expect(0, "thread");
	pid = fork();
	if (pid == 0) {
		expect(0, "thread");
		leaf(1);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	leaf(1);
	return arg;
}

int main(void)
{
	pthread_t t;

	expect(0, "main");
	if (branch(1, 1)) {
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
	}
	leaf(1);
	return 0;
}
