/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Starts a program with the shim in it: finds it as the shell would, sets its
 * environment, and reports an exec that fails.
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tell.h"
#include "preload.h"

/* ---- finding the program --------------------------------------------------
 */

static int is_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	if (!S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EACCES;
		return 0;
	}
	return access(path, X_OK) == 0;
}

/* Finds the program as execvp() would; errno says why it cannot. */
static char *program_find(const char *name)
{
	const char *folder = getenv("PATH");
	char path[PATH_MAX];

	if (strchr(name, '/'))
		return is_program(name) ? strdup(name) : NULL;
	errno = ENOENT;
	while (folder && *name) {
		size_t length = strcspn(folder, ":");
		int n = snprintf(path, sizeof(path), "%.*s/%s", (int)length,
				 length ? folder : ".", name);

		if (!length)
			n = snprintf(path, sizeof(path), "./%s", name);
		if (n < (int)sizeof(path) && is_program(path))
			return strdup(path);
		folder = folder[length] ? folder + length + 1 : NULL;
	}
	return NULL;
}

static int tell_why_not(const char *name, int code)
{
	if (code != ENOENT || strchr(name, '/'))
		return failure("cannot run '%s': %s", name, strerror(code));
	if (*name && is_program(name))
		return failure("cannot run '%s': no such command; did you "
			       "mean ./%s?",
			       name, name);
	return failure("cannot run '%s': no such command", name);
}

int launch_prepare(struct launch *l, const char *name, int with_sampler)
{
	/* A file at its limit is an error of ours, not our death. */
	*l = (struct launch){.on_large_file = signal(SIGXFSZ, SIG_IGN)};
	l->program = program_find(name);
	if (!l->program)
		return tell_why_not(name, errno);
	return preload_make(l->program, with_sampler, &l->preload, &l->link,
			    &l->lock);
}

void launch_release(struct launch *l)
{
	preload_unlink(l->link, l->lock);
	free(l->program);
	free(l->preload);
	free(l->link);
	*l = (struct launch){0};
}

/* ---- starting it ----------------------------------------------------------
 */

static _Noreturn void child_run(const struct launch *l, char **argv,
				const sigset_t *mask, int report)
{
	int code;

	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGXFSZ, l->on_large_file);
	if (l->is_output_ours)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execv(l->program, argv);
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

static int tell_failed_exec(const struct launch *l, int code)
{
	if (code == ENOEXEC)
		return failure("cannot run '%s': it is no program (a script "
			       "needs a first line #!...)",
			       l->program);
	return failure("cannot run '%s': %s", l->program, strerror(code));
}

/* Nothing comes through the pipe when exec succeeds: it is closed. */
static int await_exec(const struct launch *l, int fd, pid_t pid)
{
	int code = 0;
	ssize_t n;

	do
		n = read(fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(fd);
	if (n <= 0)
		return STATUS_OK;
	waitpid(pid, NULL, 0);
	return tell_failed_exec(l, code);
}

/* A program built with gcc's ASan, or with a shared one, wants the runtime to
 * be the first library of all, and ends where it is not.  preload.c sees to
 * that for the program; what it runs in turn is not to check the order.  The
 * user's own options come later, and so count. */
static void asan_allow(void)
{
	static const char option[] = "verify_asan_link_order=0";
	const char *users = getenv("ASAN_OPTIONS");
	char *value;

	if (asprintf(&value, "%s%s%s", option, users && *users ? ":" : "",
		     users ? users : "") < 0)
		return;
	setenv("ASAN_OPTIONS", value, 1);
	free(value);
}

int launch_start(const struct launch *l, char **argv, const char *area,
		 const sigset_t *blocked, pid_t *pid)
{
	sigset_t before;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return failure("cannot start '%s': %s", l->program,
			       strerror(errno));
	setenv("LD_PRELOAD", l->preload, 1);
	setenv("CSTRACE_AREA", area, 1);
	if (l->samples)
		setenv("CSTRACE_SAMPLES", l->samples, 1);
	if (l->plans)
		setenv("CSTRACE_PLANS", l->plans, 1);
	else
		unsetenv("CSTRACE_PLANS");
	asan_allow();
	sigprocmask(SIG_BLOCK, blocked, &before);
	*pid = fork();
	if (*pid == 0)
		child_run(l, argv, &before, ends[1]);
	close(ends[1]);
	unsetenv("LD_PRELOAD");
	if (*pid > 0)
		return await_exec(l, ends[0], *pid);
	close(ends[0]);
	return failure("cannot start '%s': %s", l->program, strerror(errno));
}

int launch_become(const struct launch *l, char **argv)
{
	setenv("LD_PRELOAD", l->preload, 1);
	unsetenv("CSTRACE_AREA");
	unsetenv("CSTRACE_FILE");
	asan_allow();
	signal(SIGXFSZ, l->on_large_file);
	/* The folder of the shim's other name is in use as long as this. */
	if (l->link)
		fcntl(l->lock, F_SETFD, 0);
	execv(l->program, argv);
	return tell_failed_exec(l, errno);
}
