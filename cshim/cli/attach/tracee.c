/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Threads are seized, interrupted, and detached again.
 */
#include "attach/tracee.h"
#include "base/array.h"
#include "base/task_file.h"
#include "process/safe_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	STOP_LIMIT_MS = 1000,
	SIGNAL_LIMIT_MS = 20, /* for one that waits */
	RESTART_NO_HAND = 514 /* the kernel's own */
};

uint64_t tracee_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int tracee_open(struct tracee *t, pid_t pid)
{
	char path[64];

	*t = (struct tracee){.pid = pid};
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	t->memory = open(path, O_RDWR | O_CLOEXEC);
	return t->memory < 0 ? errno : 0;
}

void tracee_close(struct tracee *t)
{
	tracee_let_go(t, 0);
	if (t->memory >= 0)
		close(t->memory);
	free(t->all);
	*t = (struct tracee){.memory = -1};
}

/* ---- stopping --------------------------------------------------------------
 */

int tracee_wait(pid_t tid, uint64_t limit_ms)
{
	uint64_t limit = tracee_now_ns() + limit_ms * 1000000;
	int status;
	pid_t got;

	while ((got = waitpid(tid, &status, __WALL | WNOHANG)) == 0) {
		const struct timespec moment = {.tv_nsec = 20000};

		if (tracee_now_ns() > limit)
			return -1;
		nanosleep(&moment, NULL);
	}
	return got == tid && WIFSTOPPED(status) ? status : -1;
}

static int is_stopped(const struct tracee *t, pid_t tid)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->all[i].tid == tid)
			return 1;
	return 0;
}

/* 0: it has ended. */
static int interrupt(pid_t tid)
{
	return ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) ==
		       0 &&
	       ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0;
}

/* Has it ended meanwhile? */
static int has_ended(const struct tracee *t, pid_t tid)
{
	return syscall(SYS_tgkill, t->pid, tid, 0) < 0;
}

/* Waits for one that was interrupted, and adds it. */
static int add(struct tracee *t, pid_t tid)
{
	int status = tracee_wait(tid, STOP_LIMIT_MS);

	if (status < 0 || array_room(&t->all, &t->cap, t->n + 1ull) < 0) {
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return has_ended(t, tid);
	}
	if (!t->n)
		t->since_ns = tracee_now_ns();
	t->all[t->n++] = (struct stopped){
		.tid = tid,
		.signal = status >> 16 == PTRACE_EVENT_STOP ? 0
							    : WSTOPSIG(status)};
	return 1;
}

int tracee_stop(struct tracee *t, pid_t tid)
{
	return interrupt(tid) && add(t, tid) && is_stopped(t, tid);
}

struct ran {
	pid_t tid;
	uint64_t ns; /* on a processor */
};

static int by_time(const void *a, const void *b)
{
	const struct ran *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static uint64_t time_of(pid_t pid, pid_t tid)
{
	char text[128];

	return task_file_read((uint32_t)pid, (uint32_t)tid, "schedstat", text,
			      sizeof(text))
		       ? strtoull(text, NULL, 10)
		       : 0;
}

pid_t *tracee_threads(const struct tracee *t, int is_sorted, uint32_t *n)
{
	uint32_t cap = 0;
	struct ran *all = NULL;
	pid_t *tids;
	struct dirent *e;
	char path[64];
	DIR *folder;

	*n = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	folder = opendir(path);
	while (folder && (e = readdir(folder))) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid && array_room(&all, &cap, *n + 1ull) == 0)
			all[(*n)++] = (struct ran){
				tid, is_sorted ? time_of(t->pid, tid) : 0};
	}
	if (folder)
		closedir(folder);
	if (is_sorted && *n)
		qsort(all, *n, sizeof(*all), by_time);
	tids = malloc((*n + 1ull) * sizeof(*tids));
	*n = tids ? *n : 0;
	for (uint32_t i = 0; i < *n; i++)
		tids[i] = all[i].tid;
	free(all);
	return tids;
}

/* Asks the threads that nobody has asked yet; sets *n_new.  0: one does not
 * stop. */
static int stop_new(struct tracee *t, uint32_t *n_new)
{
	uint32_t n, n_asked = 0;
	pid_t *all = tracee_threads(t, 0, &n);
	int is_well = 1;

	for (uint32_t i = 0; i < n; i++)
		if (!is_stopped(t, all[i]) && interrupt(all[i]))
			all[n_asked++] = all[i];
	for (uint32_t i = 0; i < n_asked; i++)
		is_well = add(t, all[i]) && is_well;
	free(all);
	*n_new = n_asked;
	return is_well;
}

int tracee_stop_all(struct tracee *t)
{
	uint64_t begin = tracee_now_ns();
	uint32_t n_new;
	int is_well;

	/* A thread may have made another one before it stopped. */
	do
		is_well = stop_new(t, &n_new);
	while (is_well && n_new);
	t->all_since_ns = begin;
	return is_well;
}

/* ---- going on --------------------------------------------------------------
 */

/* The kernel ends these calls early when a thread is stopped, and does not make
 * them anew by itself: it would be the first to notice us. */
static void call_again(pid_t tid)
{
	static const uint16_t waits[] = {SYS_epoll_wait,   SYS_epoll_pwait,
					 SYS_epoll_pwait2, SYS_semop,
					 SYS_semtimedop,   SYS_rt_sigtimedwait,
					 SYS_io_getevents};
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) < 0 ||
	    (long long)r.rax != -EINTR)
		return;
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		if (r.orig_rax != waits[i])
			continue;
		r.rax = -(unsigned long long)RESTART_NO_HAND;
		ptrace(PTRACE_SETREGS, tid, NULL, &r);
	}
}

static void count_time(struct tracee *t)
{
	uint64_t now = tracee_now_ns(), some = now - t->since_ns;
	uint64_t all = t->all_since_ns ? now - t->all_since_ns : 0;

	if (t->n && some > t->longest_some_ns)
		t->longest_some_ns = some;
	if (t->n && all > t->longest_ns)
		t->longest_ns = all;
	t->all_since_ns = 0;
}

static int is_waiting(pid_t tid)
{
	struct user_regs_struct r;

	return ptrace(PTRACE_GETREGS, tid, NULL, &r) == 0 &&
	       safe_place_is_waiting(&r);
}

/* Waits the signal for the thread, which does not block it? */
static int has_pending(pid_t tid, int number)
{
	struct __ptrace_peeksiginfo_args from = {.nr = 1};
	siginfo_t one;
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, tid, (void *)8, &mask) < 0 ||
	    mask >> (number - 1) & 1)
		return 0;
	while (ptrace(PTRACE_PEEKSIGINFO, tid, &from, &one) == 1) {
		if (one.si_signo == number)
			return 1;
		from.off++;
	}
	return 0;
}

/* It stops once more, as the signal comes, which is dropped then.  Of a timer
 * that was set anew, as of Linux 6.13, it does not come: the thread goes on. */
static void drop_own(const struct tracee *t, struct stopped *s)
{
	int status;

	if (s->signal || !t->own_signal || !is_waiting(s->tid) ||
	    !has_pending(s->tid, t->own_signal))
		return;
	call_again(s->tid);
	if (ptrace(PTRACE_CONT, s->tid, NULL, NULL) < 0)
		return;
	status = tracee_wait(s->tid, SIGNAL_LIMIT_MS);
	if (status < 0 && ptrace(PTRACE_INTERRUPT, s->tid, NULL, NULL) == 0)
		status = tracee_wait(s->tid, STOP_LIMIT_MS);
	if (status >= 0 && status >> 16 != PTRACE_EVENT_STOP)
		s->signal = WSTOPSIG(status);
}

void tracee_let_go(struct tracee *t, pid_t kept)
{
	uint32_t n = 0;

	count_time(t);
	for (uint32_t i = 0; i < t->n; i++) {
		struct stopped *s = &t->all[i];

		if (s->tid == kept) {
			t->all[n++] = *s;
			continue;
		}
		drop_own(t, s);
		if (s->signal == t->own_signal && is_waiting(s->tid))
			s->signal = 0;
		if (!s->signal)
			call_again(s->tid);
		ptrace(PTRACE_DETACH, s->tid, NULL,
		       (void *)(intptr_t)s->signal);
	}
	t->n = n;
}

/* ---- memory ----------------------------------------------------------------
 */

int tracee_read(const struct tracee *t, uint64_t at, void *out, size_t size)
{
	return pread(t->memory, out, size, (off_t)at) == (ssize_t)size;
}

int tracee_write(const struct tracee *t, uint64_t at, const void *from,
		 size_t size)
{
	return pwrite(t->memory, from, size, (off_t)at) == (ssize_t)size;
}
