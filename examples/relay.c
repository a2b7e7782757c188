/* SPDX-License-Identifier: MIT
 *
 * relay [SECONDS]: a job handed from process to process.  A forked child does
 * a part, the program starts itself anew for another, and a clerk stays behind
 * in the background for some seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void sort_papers(void)
{
	usleep(1000);
}

static void sign(void)
{
	usleep(1000);
}

static void by_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		sort_papers();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void by_program(const char *self)
{
	char command[4096];

	snprintf(command, sizeof(command), "'%s' sign", self);
	if (system(command))
		exit(1);
}

static void file_away(int seconds)
{
	for (int i = 0; i < 10 * seconds; i++) {
		sort_papers();
		usleep(100000);
	}
}

static void leave_clerk(int seconds)
{
	if (fork() == 0) {
		setsid();
		file_away(seconds);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && *argv[1] == 's') {
		sign();
		return 0;
	}
	by_child();
	by_program(argv[0]);
	if (argc > 1)
		leave_clerk(atoi(argv[1]));
	return 0;
}
