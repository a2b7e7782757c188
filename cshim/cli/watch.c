/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop of `cstrace record` while the program runs: it polls for questions,
 * signals and the program's end, and draws the progress line.
 */
#include "watch.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tell.h"

enum {
	TICK_MS = 500,
	PROGRESS_AFTER_NS = 3000000000,
	/* Bytes that the shim writes in the program's name: two addresses, into
	 * its memory (deepbind.c). */
	SHIM_WRITES = 16,
};

/* What would end us: the program gets it, and we wait for the program. */
static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM,
				SIGHUP, SIGUSR1, SIGUSR2};

enum { N_PASSED_ON = sizeof(passed_on) / sizeof(passed_on[0]) };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int watch_open(struct watch *w, sigset_t *blocked)
{
	sigemptyset(blocked);
	sigaddset(blocked, SIGCHLD);
	for (int i = 0; i < N_PASSED_ON; i++)
		sigaddset(blocked, passed_on[i]);
	if (w->on_signal)
		sigaddset(blocked, w->on_signal);
	w->signals = signalfd(-1, blocked, SFD_CLOEXEC | SFD_NONBLOCK);
	w->wanted = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->signals < 0 || w->wanted < 0)
		return failure("cannot watch the program: %s", strerror(errno));
	return STATUS_OK;
}

void watch_close(struct watch *w)
{
	if (w->signals >= 0)
		close(w->signals);
	if (w->wanted >= 0)
		close(w->wanted);
}

void watch_wanted(void *arg)
{
	struct watch *w = arg;
	uint64_t one = 1;

	if (write(w->wanted, &one, sizeof(one)) < 0)
		return; /* it is full of them already */
}

static void answer(struct watch *w)
{
	uint64_t n;

	if (read(w->wanted, &n, sizeof(n)) == sizeof(n))
		bfd_names_answer_all(w->naming, w->recorder);
}

/* ---- signals --------------------------------------------------------------
 */

/* What the terminal sends reaches the program as well. */
static void pass_on(const struct watch *w, const struct signalfd_siginfo *info)
{
	if (info->ssi_code != SI_KERNEL)
		kill(w->pid, (int)info->ssi_signo);
}

/* Returns whether the program has ended; *status is its wait status. */
static int take_signals(struct watch *w, int *status)
{
	struct signalfd_siginfo info;

	while (read(w->signals, &info, sizeof(info)) == sizeof(info)) {
		if ((int)info.ssi_signo == w->on_signal)
			w->save(w->arg);
		else if (info.ssi_signo != SIGCHLD)
			pass_on(w, &info);
	}
	return waitpid(w->pid, status, WNOHANG) == w->pid;
}

/* ---- progress -------------------------------------------------------------
 */

/* Bytes that the program has written, anywhere. */
static uint64_t n_written(pid_t pid)
{
	char name[64], line[128];
	uint64_t n = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/io", (int)pid);
	f = fopen(name, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "wchar: %" SCNu64, &n) == 1)
			break;
	fclose(f);
	return n;
}

/* A full-screen program has the terminal in another mode. */
static int is_plain_terminal(void)
{
	struct termios t;

	return isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp() &&
	       tcgetattr(STDERR_FILENO, &t) == 0 && (t.c_lflag & ICANON) &&
	       (t.c_lflag & ECHO);
}

static void progress_clear(struct watch *w)
{
	if (w->has_progress)
		fputs("\r\033[K", stderr);
	w->has_progress = 0;
}

/* Only for a program that is silent itself: its lines are not to be mixed
 * with ours. */
static void progress(struct watch *w)
{
	struct cst_status_report s;

	if (w->is_quiet || now_ns() - w->start_ns < PROGRESS_AFTER_NS)
		return;
	if (!is_plain_terminal() || n_written(w->pid) > SHIM_WRITES) {
		w->is_quiet = 1;
		progress_clear(w);
		return;
	}
	cst_recorder_status(w->recorder, &s);
	fprintf(stderr, "\rcstrace: %" PRIu64 " calls, %.1f MiB\033[K\r",
		s.n_calls, (double)s.spool_bytes / (1 << 20));
	w->has_progress = 1;
}

/* ---- the loop -------------------------------------------------------------
 */

int watch_run(struct watch *w)
{
	struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN},
			       {.fd = w->wanted, .events = POLLIN},
			       {.fd = w->plans, .events = POLLIN}};
	uint64_t next = 0;
	int status = 0;

	w->start_ns = now_ns();
	next = w->start_ns + TICK_MS * 1000000ull;
	while (!take_signals(w, &status)) {
		uint64_t now = now_ns();

		answer(w);
		if (now >= next) {
			progress(w);
			next = now + TICK_MS * 1000000ull;
		}
		poll(fds, 3, TICK_MS);
		if (fds[2].revents & POLLIN)
			w->plan(w->plans_arg);
	}
	progress_clear(w);
	return status;
}
