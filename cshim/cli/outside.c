/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A thread is seized, interrupted, walked and let go for each sample, so that
 * nothing of ours is in the process between two of them; what waits in a system
 * call goes on waiting.
 */
#include "outside.h"
#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libunwind-ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STOP_LIMIT_MS = 100 };

struct task {
	uint32_t tid;
	uint32_t seen; /* number of the round that found it */
	uint32_t lane;
	uint64_t ran_ns; /* CPU time up to which samples were taken */
	int has_ran;
	int is_seized; /* and did not stop yet: it may be deep in the kernel */
	void *target;  /* libunwind's */
};

struct outside {
	pid_t pid;
	struct cst_samples *samples;
	unw_addr_space_t space;
	struct task *tasks;
	uint32_t n, cap, n_rounds;
	uint64_t n_stops, stopped_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- threads ------------------------------------------------------------- */

static struct task *task_of(struct outside *o, uint32_t tid)
{
	struct task *all;

	for (uint32_t i = 0; i < o->n; i++)
		if (o->tasks[i].tid == tid)
			return &o->tasks[i];
	if (o->n == CST_SAMPLE_LANES)
		return NULL;
	if (o->n == o->cap) {
		all = realloc(o->tasks, (o->cap + 64) * sizeof(*all));
		if (!all)
			return NULL;
		o->tasks = all;
		o->cap += 64;
	}
	o->tasks[o->n] = (struct task){.tid = tid,
				       .lane = UINT32_MAX,
				       .target = _UPT_create((pid_t)tid)};
	return &o->tasks[o->n++];
}

static void task_drop(struct outside *o, uint32_t i)
{
	struct task *t = &o->tasks[i];

	if (t->lane != UINT32_MAX)
		__atomic_store_n(&o->samples->lanes[t->lane].is_ended, 1,
				 __ATOMIC_RELEASE);
	if (t->target)
		_UPT_destroy(t->target);
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

/* How long it has had a processor; 0: it is gone. */
static uint64_t read_ran_ns(const struct outside *o, uint32_t tid)
{
	char path[64], text[64];
	uint64_t ns = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/schedstat", (int)o->pid,
		 tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "%" SCNu64, &ns) == 1 ? ns : 0;
}

/* How many samples are due; what is less than one stays for the next round. */
static uint32_t n_due(struct outside *o, struct task *t)
{
	uint64_t period = 1000000000ull / o->samples->hz, n;
	uint64_t ran = o->samples->clock == CST_SAMPLE_CPU
			       ? read_ran_ns(o, t->tid)
			       : now_ns();

	if (!t->has_ran || ran < t->ran_ns) {
		t->ran_ns = ran;
		t->has_ran = 1;
		return 0;
	}
	n = (ran - t->ran_ns) / period;
	t->ran_ns += n * period;
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
	}
	return got == tid && WIFSTOPPED(*status);
}

/* 1: it stands, by our interrupt or by a signal of its own, which is in *number
 * then. */
static int stop(pid_t tid, int *is_seized, int *number)
{
	int status;

	*number = 0;
	if (!*is_seized && (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0 ||
			    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0))
		return 0;
	*is_seized = 1;
	if (!wait_for(tid, &status))
		return 0;
	*is_seized = 0;
	if (status >> 16 != PTRACE_EVENT_STOP)
		*number = WSTOPSIG(status);
	return 1;
}

static uint32_t walk(struct outside *o, struct task *t, uint64_t *out,
		     int *is_cut)
{
	unw_cursor_t cursor;
	uint32_t n = 0;
	int more = 1, is_exact = 1;

	*is_cut = 1;
	if (unw_init_remote(&cursor, o->space, t->target) < 0)
		return 0;
	while (more > 0 && n < CST_SAMPLE_FRAMES) {
		unw_word_t pc;

		if (unw_get_reg(&cursor, UNW_REG_IP, &pc) < 0 || !pc)
			break;
		out[n++] = is_exact ? pc : pc - 1;
		is_exact = unw_is_signal_frame(&cursor) > 0;
		more = unw_step(&cursor);
	}
	*is_cut = more < 0 || n == CST_SAMPLE_FRAMES;
	return n;
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

static void sample(struct outside *o, struct task *t, uint32_t weight)
{
	struct cst_lane *l = lane_of(o, t);
	uint64_t frames[CST_SAMPLE_FRAMES], begin;
	uint32_t n;
	int number, is_cut;

	if (!l || !t->target || !stop((pid_t)t->tid, &t->is_seized, &number))
		return;
	begin = now_ns();
	n = walk(o, t, frames, &is_cut);
	ptrace(PTRACE_DETACH, (pid_t)t->tid, NULL, (void *)(intptr_t)number);
	o->stopped_ns += now_ns() - begin;
	o->n_stops++;
	if (n)
		put(l, frames, n, weight, is_cut);
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

/* Whether we may at all; a thread of it stops for a moment. */
static int check(pid_t pid)
{
	int number, is_seized = 0;

	if (stop(pid, &is_seized, &number)) {
		ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)number);
		return 1;
	}
	if (errno == ESRCH)
		failure("there is no process %d", (int)pid);
	else
		failure("cannot sample process %d: %s%s", (int)pid,
			strerror(errno),
			errno == EPERM ? " (another user's, or a debugger has "
					 "it: cstrace sample in gdb)"
				       : "");
	return 0;
}

struct outside *outside_new(pid_t pid, const char *path)
{
	struct outside *o;

	if (!check(pid))
		return NULL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->pid = pid;
	o->samples = map(path);
	o->space = unw_create_addr_space(&_UPT_accessors, 0);
	if (!o->samples || !o->space) {
		failure("cannot sample: %s", strerror(errno));
		outside_free(o);
		return NULL;
	}
	unw_set_caching_policy(o->space, UNW_CACHE_GLOBAL);
	o->samples->source = CST_SAMPLE_STOPS;
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
	if (o->space)
		unw_destroy_addr_space(o->space);
	if (o->samples)
		munmap(o->samples, sizeof(*o->samples));
	free(o->tasks);
	free(o);
}

/* It has ended, but for its parent, which has not heard of it. */
static int is_zombie(pid_t pid)
{
	char path[64], text[512];
	const char *end;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 1;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && end[1] && strchr("ZX", end[2]) != NULL;
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
	while ((e = readdir(folder))) {
		uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);
		struct task *t = tid ? task_of(o, tid) : NULL;
		uint32_t due;

		if (!t)
			continue;
		t->seen = o->n_rounds;
		n++;
		due = n_due(o, t);
		if (due)
			sample(o, t, due);
	}
	closedir(folder);
	for (uint32_t i = o->n; i-- > 0;)
		if (o->tasks[i].seen != o->n_rounds)
			task_drop(o, i);
	return n > 1 || (n && !is_zombie(o->pid));
}

uint64_t outside_stop_ns(const struct outside *o)
{
	return o->n_stops ? o->stopped_ns / o->n_stops : 0;
}
