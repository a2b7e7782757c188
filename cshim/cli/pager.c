/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shows long output through the user's pager when standard output is a
 * terminal.
 */
#include "pager.h"
#include "progress_line.h"
#include "trace_input.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_started;
static pid_t pager_pid; /* 0: there is none */

/* NULL: less, if it is there.  "" and "cat" mean none, as elsewhere. */
static const char *pager_command(void)
{
	const char *command = getenv("CSTRACE_PAGER");

	return command ? command : getenv("PAGER");
}

static int pager_is_wanted(void)
{
	const char *command = pager_command(), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0 &&
	       (!command || (*command && strcmp(command, "cat") != 0));
}

uint32_t pager_width(int no_pager)
{
	struct winsize size;

	if (!no_pager && pager_is_wanted())
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

static void pager_run(int from)
{
	const char *command = pager_command();

	dup2(from, STDIN_FILENO);
	signal(SIGPIPE, SIG_DFL);
	/* Leave at the end of less than a screen, let colours through, chop
	 * rows (the arrow keys show the rest), keep the text on the screen;
	 * unless the user has set up less. */
	setenv("LESS", "FRSX", 0);
	if (command)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	else
		execlp("less", "less", (char *)NULL);
	if (!command)
		execlp("cat", "cat", (char *)NULL);
	_exit(127);
}

/* Ctrl-C is for the pager as well, and it lives on: so must we, or the shell
 * would come between it and the terminal. */
static void keep_waiting(void)
{
	struct sigaction on_interrupt;

	sigaction(SIGINT, NULL, &on_interrupt);
	on_interrupt.sa_flags &= ~(int)SA_RESETHAND;
	sigaction(SIGINT, &on_interrupt, NULL);
}

/* Without one the text goes out as it is. */
static void pager_start(void)
{
	int ends[2];

	is_started = 1;
	if (!pager_is_wanted() || pipe2(ends, O_CLOEXEC) < 0)
		return;
	pager_pid = fork();
	if (pager_pid == 0)
		pager_run(ends[0]);
	if (pager_pid > 0) {
		keep_waiting();
		dup2(ends[1], STDOUT_FILENO);
	} else {
		pager_pid = 0;
	}
	close(ends[0]);
	close(ends[1]);
}

int pager_write(void *arg, const char *text, uint64_t size)
{
	progress_line_end();
	if (!is_started)
		pager_start();
	return trace_input_write(arg, text, size);
}

void pager_end(void)
{
	int null;

	if (!pager_pid)
		return;
	/* Code that looks at standard output later finds it open. */
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDOUT_FILENO);
	else
		close(STDOUT_FILENO);
	if (null >= 0)
		close(null);
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
}
