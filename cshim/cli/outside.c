/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A perf event of each thread has the kernel copy what a sample needs, at the
 * moment that it is due.  Where the kernel refuses that, a thread that runs is
 * seized, interrupted, walked and let go for each sample, so that nothing of
 * ours is in the process between two of them.  Who waits is left alone: some
 * system calls would end early (epoll_wait).  One that began to wait just then
 * has its call made anew.
 */
#include "outside.h"
#include "base/array.h"
#include "base/task_file.h"
#include "command.h"
#include "process/obstacle.h"
#include "remote_stack.h"
#include "thread_event.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	STOP_LIMIT_MS = 100,
	MOST_EVENTS = 64, /* to set up hundreds takes seconds */
};

/* What the kernel counts of a thread: time with a processor, time of waiting
 * for one, and how often it got one. */
struct ran {
	uint64_t ns, delay_ns, n;
};

struct task {
	uint32_t tid;
	uint32_t seen; /* number of the round that found it */
	uint32_t lane;
	uint64_t last_ns; /* of its CPU time, or of the clock on the wall */
	uint64_t rest_ns; /* for which there is no sample yet */
	int has_last;
	int is_seized; /* and did not stop yet: it may be deep in the kernel */
	struct ran before; /* as it was asked to stop, at asked_ns */
	uint64_t woke_ns;  /* and we had the processor since then */
	uint64_t asked_ns;
	void *target; /* libunwind's */
	struct thread_event event;
};

struct outside {
	pid_t pid;
	struct cst_samples *samples;
	struct remote_stack *stack;
	int has_events;
	int refusal; /* errno of the first event, if that was refused */
	struct pollfd *polled; /* room for as many as there are tasks */
	uint32_t polled_cap;
	struct task *tasks;
	uint32_t n, cap, n_rounds;
	uint64_t n_stops, stopped_ns;
};

static uint64_t woke_ns; /* when we slept last, and it was over */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- threads ------------------------------------------------------------- */

static struct task *task_of(struct outside *o, uint32_t tid)
{
	for (uint32_t i = 0; i < o->n; i++)
		if (o->tasks[i].tid == tid)
			return &o->tasks[i];
	if (o->n == CST_SAMPLE_LANES)
		return NULL;
	if (array_room(&o->tasks, &o->cap, o->n + 1ull) < 0)
		return NULL;
	o->tasks[o->n] = (struct task){.tid = tid,
				       .lane = UINT32_MAX,
				       .target = remote_thread_new(tid),
				       .event = {.fd = -1}};
	if (o->has_events)
		thread_event_open(&o->tasks[o->n].event, tid, o->samples->hz);
	return &o->tasks[o->n++];
}

static void task_drop(struct outside *o, uint32_t i)
{
	struct task *t = &o->tasks[i];

	if (t->lane != UINT32_MAX)
		__atomic_store_n(&o->samples->lanes[t->lane].is_ended, 1,
				 __ATOMIC_RELEASE);
	thread_event_close(&t->event);
	remote_thread_free(t->target);
	*t = o->tasks[--o->n];
}

/* The thread's own; NULL: all are taken. */
static struct cst_lane *lane_of(struct outside *o, struct task *t)
{
	for (uint32_t i = 0; t->lane == UINT32_MAX && i < CST_SAMPLE_LANES;
	     i++) {
		struct cst_lane *l = &o->samples->lanes[i];

		if (__atomic_load_n(&l->tid, __ATOMIC_ACQUIRE))
			continue;
		l->process = 1;
		__atomic_store_n(&l->tid, t->tid, __ATOMIC_RELEASE);
		t->lane = i;
	}
	return t->lane == UINT32_MAX ? NULL : &o->samples->lanes[t->lane];
}

/* ns is 0 where it is gone. */
static struct ran read_ran(const struct outside *o, uint32_t tid)
{
	struct ran r = {0};
	char text[96];

	if (task_file_read((uint32_t)o->pid, tid, "schedstat", text,
			   sizeof(text)))
		sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &r.ns,
		       &r.delay_ns, &r.n);
	return r;
}

/* In the words of ps, 'R': it runs, or waits for a processor. */
static char read_state(const struct outside *o, uint32_t tid)
{
	char text[512];
	const char *end = NULL;

	if (task_file_read((uint32_t)o->pid, tid, "stat", text, sizeof(text)))
		end = strrchr(text, ')');
	return end && end[1] ? end[2] : 'X';
}

/* How many samples are due.  What is less than one stays for the next round,
 * and so does all of a thread that waits: its time was spent elsewhere. */
static uint32_t n_due(struct outside *o, struct task *t)
{
	int is_cpu = o->samples->clock == CST_SAMPLE_CPU;
	uint64_t period = 1000000000ull / o->samples->hz, n;
	uint64_t now = is_cpu ? read_ran(o, t->tid).ns : now_ns();
	uint64_t step = t->has_last && now > t->last_ns ? now - t->last_ns : 0;

	t->last_ns = now;
	t->has_last = 1;
	t->rest_ns += is_cpu ? step : 0;
	/* One that was asked to stop may have done so since. */
	if (!t->is_seized &&
	    ((is_cpu && t->rest_ns < period) || read_state(o, t->tid) != 'R'))
		return 0;
	t->rest_ns += is_cpu ? 0 : step;
	n = t->rest_ns / period;
	t->rest_ns -= n * period;
	return n > UINT16_MAX ? UINT16_MAX : (uint32_t)n;
}

/* ---- one sample ---------------------------------------------------------- */

static int wait_for(pid_t tid, int *status)
{
	uint64_t limit = now_ns() + STOP_LIMIT_MS * 1000000ull;
	pid_t got;

	while ((got = waitpid(tid, status, __WALL | WNOHANG)) == 0) {
		const struct timespec moment = {.tv_nsec = 20000};

		if (now_ns() > limit)
			return 0;
		nanosleep(&moment, NULL);
		woke_ns = now_ns();
	}
	return got == tid && WIFSTOPPED(*status);
}

/* 1: it stands, by our interrupt or by a signal of its own, which is in *number
 * then. */
static int stop(struct task *t, int *number)
{
	pid_t tid = (pid_t)t->tid;
	int status;

	*number = 0;
	if (!t->is_seized && (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0 ||
			      ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0))
		return 0;
	if (!t->is_seized)
		t->asked_ns = now_ns();
	t->is_seized = 1;
	if (!wait_for(tid, &status))
		return 0;
	t->is_seized = 0;
	if (status >> 16 != PTRACE_EVENT_STOP)
		*number = WSTOPSIG(status);
	return 1;
}

static void put(struct cst_lane *l, const uint64_t *frames, uint32_t n,
		uint32_t weight, int is_cut)
{
	uint64_t head = l->head;
	uint64_t used = head - __atomic_load_n(&l->tail, __ATOMIC_ACQUIRE);

	if (CST_LANE_WORDS - used < CST_SAMPLE_HEAD + n) {
		l->n_lost += weight;
		return;
	}
	l->words[head++ % CST_LANE_WORDS] =
		n | (uint64_t)(is_cut ? CST_SAMPLE_CUT : 0) << 16 |
		(uint64_t)weight << 32;
	l->words[head++ % CST_LANE_WORDS] = __builtin_ia32_rdtsc();
	for (uint32_t i = 0; i < n; i++)
		l->words[head++ % CST_LANE_WORDS] = frames[i];
	__atomic_store_n(&l->head, head, __ATOMIC_RELEASE);
}

/* A signal of its own waits for it. */
static int has_signal(const struct outside *o, uint32_t tid)
{
	char text[4096];
	const char *lines[] = {"\nSigPnd:", "\nShdPnd:"};

	if (!task_file_read((uint32_t)o->pid, tid, "status", text,
			    sizeof(text)))
		return 1;
	for (int i = 0; i < 2; i++) {
		const char *at = strstr(text, lines[i]);

		if (!at || strtoull(at + 8, NULL, 16))
			return 1;
	}
	return 0;
}

/* It began to wait as we came, and the kernel does not make this call anew by
 * itself. */
static void call_again(const struct outside *o, uint32_t tid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, (pid_t)tid, NULL, &r) < 0 ||
	    (long long)r.rax != -EINTR || (long long)r.orig_rax < 0 ||
	    has_signal(o, tid))
		return;
	r.rax = r.orig_rax;
	r.rip -= 2; /* the instruction syscall */
	ptrace(PTRACE_SETREGS, (pid_t)tid, NULL, &r);
}

/* It had begun to wait when it stopped: what it ran, it ran elsewhere. */
static int has_waited(uint32_t tid)
{
	enum { FIRST_RESTART = 512, LAST_RESTART = 516 }; /* the kernel's own */
	struct user_regs_struct r;
	long long result;

	if (ptrace(PTRACE_GETREGS, (pid_t)tid, NULL, &r) < 0)
		return 0;
	result = -(long long)r.rax;
	return (long long)r.orig_rax >= 0 &&
	       (result == EINTR ||
		(result >= FIRST_RESTART && result <= LAST_RESTART));
}

/* Calls that do little but wait. */
static int is_wait(uint64_t call)
{
	static const uint16_t waits[] = {
		SYS_poll,
		SYS_ppoll,
		SYS_select,
		SYS_pselect6,
		SYS_epoll_wait,
		SYS_epoll_pwait,
		SYS_epoll_pwait2,
		SYS_futex,
		SYS_nanosleep,
		SYS_clock_nanosleep,
		SYS_pause,
		SYS_rt_sigsuspend,
		SYS_rt_sigtimedwait,
		SYS_wait4,
		SYS_waitid,
		SYS_accept,
		SYS_accept4,
		SYS_semop,
		SYS_semtimedop,
		SYS_msgrcv,
		SYS_io_getevents,
		SYS_io_uring_enter,
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (waits[i] == call)
			return 1;
	return 0;
}

enum behind { BEHIND_NOTHING, BEHIND_CALL, BEHIND_WAIT };

/* What it stands behind: a system call that it left, or just code that an
 * interrupt found. */
static enum behind is_behind(uint32_t tid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, (pid_t)tid, NULL, &r) < 0 ||
	    (long long)r.orig_rax < 0)
		return BEHIND_NOTHING;
	return is_wait(r.orig_rax) ? BEHIND_WAIT : BEHIND_CALL;
}

/* A thread that is ready but waits for a processor may stand where it waited
 * before, and its time was spent elsewhere: its clock of turns on a processor
 * has gone on when it stops.  But it may as well be one that we took the
 * processor from.  That one waits since we woke, no longer and no less; and
 * hardly behind a call that is there to wait. */
static int is_where_it_ran(const struct outside *o, const struct task *t)
{
	enum behind behind;
	struct ran now;
	uint64_t delay_ns;

	if (o->samples->clock != CST_SAMPLE_CPU)
		return 1;
	if (has_waited(t->tid))
		return 0;
	now = read_ran(o, t->tid);
	behind = is_behind(t->tid);
	if (now.n == t->before.n || behind == BEHIND_NOTHING)
		return 1;
	delay_ns = now.delay_ns - t->before.delay_ns;
	return behind == BEHIND_CALL && now.n == t->before.n + 1 &&
	       delay_ns >= t->asked_ns - t->woke_ns &&
	       delay_ns <= now_ns() - t->woke_ns;
}

static void give_back(const struct outside *o, struct task *t, uint32_t weight)
{
	t->rest_ns += weight * (1000000000ull / o->samples->hz);
}

static void sample(struct outside *o, struct task *t, uint32_t weight)
{
	struct cst_lane *l = lane_of(o, t);
	uint64_t frames[CST_SAMPLE_FRAMES], begin;
	uint32_t n = 0;
	int number, is_cut;

	if (!l || !t->target)
		return;
	if (!t->is_seized) {
		t->before = read_ran(o, t->tid);
		t->woke_ns = woke_ns;
	}
	if (!stop(t, &number)) {
		give_back(o, t, weight);
		return;
	}
	begin = now_ns();
	if (is_where_it_ran(o, t))
		n = remote_stack_walk(o->stack, t->target, NULL, frames,
				      &is_cut);
	else
		give_back(o, t, weight);
	if (!number)
		call_again(o, t->tid);
	ptrace(PTRACE_DETACH, (pid_t)t->tid, NULL, (void *)(intptr_t)number);
	o->stopped_ns += now_ns() - begin;
	o->n_stops++;
	if (n && weight)
		put(l, frames, n, weight, is_cut);
}

/* ---- samples of events ----------------------------------------------------
 */

static void drain(struct outside *o, struct task *t)
{
	uint64_t frames[CST_SAMPLE_FRAMES];
	struct cst_lane *l = NULL;
	struct snapshot at;

	while (t->target && thread_event_next(&t->event, &at)) {
		int is_cut;
		uint32_t n = remote_stack_walk(o->stack, t->target, &at, frames,
					       &is_cut);

		l = lane_of(o, t);
		if (!l)
			return;
		if (n)
			put(l, frames, n, 1, is_cut);
	}
	if (l) {
		l->n_lost += t->event.n_lost;
		t->event.n_lost = 0;
	}
}

/* Sleeps, but for the samples that come meanwhile: what a stack's outer part
 * holds is read as it is then. */
static void drain_until(struct outside *o, uint64_t until_ns)
{
	for (;;) {
		uint64_t now = now_ns();
		struct timespec rest;

		if (now >= until_ns ||
		    array_room(&o->polled, &o->polled_cap, o->n + 1ull) < 0)
			return;
		rest.tv_sec = (time_t)((until_ns - now) / 1000000000);
		rest.tv_nsec = (long)((until_ns - now) % 1000000000);
		for (uint32_t i = 0; i < o->n; i++)
			o->polled[i] = (struct pollfd){
				.fd = o->tasks[i].event.fd, .events = POLLIN};
		if (ppoll(o->polled, o->n, &rest, NULL) <= 0)
			return;
		for (uint32_t i = 0; i < o->n; i++) {
			if (o->polled[i].revents)
				drain(o, &o->tasks[i]);
			if (o->polled[i].revents & POLLHUP) /* it has ended */
				thread_event_close(&o->tasks[i].event);
		}
	}
}

/* The number behind a heading in the process's status; 0: it has ended. */
static uint32_t status_number(const struct outside *o, const char *heading)
{
	char text[4096];
	const char *at = NULL;

	if (task_file_read((uint32_t)o->pid, (uint32_t)o->pid, "status", text,
			   sizeof(text)))
		at = strstr(text, heading);
	return at ? (uint32_t)strtoul(at + strlen(heading), NULL, 10) : 0;
}

/* Whether the kernel gives us events of this process. */
static void try_events(struct outside *o)
{
	struct thread_event event;
	struct rlimit files;

	if (status_number(o, "\nThreads:") > MOST_EVENTS) {
		o->refusal = E2BIG;
		return;
	}
	o->has_events =
		thread_event_open(&event, (uint32_t)o->pid, o->samples->hz);
	o->refusal = o->has_events ? 0 : errno;
	thread_event_close(&event);
	/* One descriptor for each thread. */
	if (o->has_events && getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

/* ---- the whole ----------------------------------------------------------- */

static struct cst_samples *map(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *base;

	if (fd < 0)
		return NULL;
	base = mmap(NULL, sizeof(struct cst_samples), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	close(fd);
	return base == MAP_FAILED ? NULL : base;
}

int outside_check(pid_t pid)
{
	struct outside o = {.pid = pid};
	uint32_t tid = (uint32_t)pid;
	char text[256];

	if (read_state(&o, tid) == 'X')
		failure("there is no process %d", (int)pid);
	else if (tracer_of(pid))
		failure("cannot sample process %d: a debugger has it (cstrace "
			"sample in gdb)",
			(int)pid);
	else if (read_state(&o, tid) != 'Z' &&
		 !task_file_read((uint32_t)o.pid, tid, "syscall", text,
				 sizeof(text)))
		failure("cannot sample process %d: %s (it is another user's, "
			"or only its parent may, by "
			"kernel.yama.ptrace_scope)",
			(int)pid, strerror(errno));
	else
		return 1;
	return 0;
}

struct outside *outside_new(pid_t pid, const char *path)
{
	struct outside *o;

	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->pid = pid;
	o->samples = map(path);
	o->stack = remote_stack_new(pid);
	if (!o->samples || !o->stack) {
		failure("cannot sample: %s", strerror(errno));
		outside_free(o);
		return NULL;
	}
	try_events(o);
	o->samples->source = o->has_events ? CST_SAMPLE_PERF : CST_SAMPLE_STOPS;
	o->samples->processes[0].pid = (uint32_t)pid;
	__atomic_store_n(&o->samples->n_processes, 1, __ATOMIC_RELEASE);
	return o;
}

void outside_free(struct outside *o)
{
	if (!o)
		return;
	while (o->n)
		task_drop(o, o->n - 1);
	remote_stack_free(o->stack);
	if (o->samples)
		munmap(o->samples, sizeof(*o->samples));
	free(o->polled);
	free(o->tasks);
	free(o);
}

int outside_round(struct outside *o)
{
	char path[64];
	struct dirent *e;
	DIR *folder;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)o->pid);
	folder = opendir(path);
	if (!folder)
		return 0;
	o->n_rounds++;
	woke_ns = now_ns();
	while ((e = readdir(folder))) {
		uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);
		struct task *t = tid ? task_of(o, tid) : NULL;
		uint32_t due;

		if (!t)
			continue;
		t->seen = o->n_rounds;
		n++;
		if (t->event.ring) {
			drain(o, t);
			continue;
		}
		due = n_due(o, t);
		if (due || t->is_seized)
			sample(o, t, due);
	}
	closedir(folder);
	for (uint32_t i = o->n; i-- > 0;) {
		if (o->tasks[i].seen == o->n_rounds)
			continue;
		drain(o, &o->tasks[i]);
		task_drop(o, i);
	}
	return n > 1 || (n && !strchr("ZX", read_state(o, (uint32_t)o->pid)));
}

void outside_wait(struct outside *o, uint64_t until_ns)
{
	uint64_t now;

	if (o->has_events)
		drain_until(o, until_ns);
	now = now_ns();
	if (now < until_ns) {
		const struct timespec rest = {
			(time_t)((until_ns - now) / 1000000000),
			(long)((until_ns - now) % 1000000000)};

		nanosleep(&rest, NULL);
	}
}

int outside_refusal(const struct outside *o)
{
	return o->refusal;
}

uint64_t outside_stop_ns(const struct outside *o)
{
	return o->n_stops ? o->stopped_ns / o->n_stops : 0;
}
