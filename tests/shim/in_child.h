/* SPDX-License-Identifier: MIT
 *
 * A piece of a test that runs in a child process.
 */
#ifndef IN_CHILD_H
#define IN_CHILD_H

#include "traced.h"

/* Runs work() in a child, whose standard output becomes the string out; it has
 * to end with this exit status. */
QUIET static void in_child(void (*work)(void), char *out, size_t size,
			   int status)
{
	int fds[2], result;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		work();
		_exit(0);
	}
	close(fds[1]);
	while (n < size - 1 && (got = read(fds[0], out + n, size - 1 - n)) > 0)
		n += (size_t)got;
	out[n] = 0;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &result, 0), pid);
	assert_int_equal(WEXITSTATUS(result), status);
}

#endif
