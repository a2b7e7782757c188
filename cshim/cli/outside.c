/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A thread that runs is seized, interrupted, walked and let go for each sample,
 * so that nothing of ours is in the process between two of them.  Who waits is
 * left alone: some system calls would end early (epoll_wait).  One that began
 * to wait just then has its call made anew.
 */
#include "outside.h"
#include "base/array.h"
#include "base/task_file.h"
#include "command.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libunwind-ptrace.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STOP_LIMIT_MS = 100 };

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
};

struct outside {
	pid_t pid;
	struct cst_samples *samples;
	unw_addr_space_t space;
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

/* The kernel's code in each process, of which libunwind-ptrace knows nothing,
 * as it is in no file.  Ours is the same. */
static struct {
	uint64_t start, end; /* in the process */
	uint64_t head;	     /* of its table of call frames */
} vdso;

static void vdso_find(const struct outside *o)
{
	const char *ours = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)ours;
	const Elf64_Phdr *parts;
	char path[64], line[PATH_MAX + 128];
	FILE *f;

	if (!ours)
		return;
	parts = (const Elf64_Phdr *)(ours + head->e_phoff);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)o->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[vdso]"))
			sscanf(line, "%" SCNx64 "-%" SCNx64, &vdso.start,
			       &vdso.end);
	if (f)
		fclose(f);
	for (int i = 0; vdso.start && i < head->e_phnum; i++)
		if (parts[i].p_type == PT_GNU_EH_FRAME)
			vdso.head = vdso.start + parts[i].p_vaddr;
}

/* In no header, but exported; perf calls it as well. */
int search_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
		 unw_proc_info_t *, int,
		 void *) __asm__("_Ux86_64_dwarf_search_unwind_table");

static int find_info(unw_addr_space_t space, unw_word_t ip,
		     unw_proc_info_t *out, int need, void *arg)
{
	unw_accessors_t *a = unw_get_accessors(space);
	unw_dyn_info_t info = {.start_ip = vdso.start, .end_ip = vdso.end};
	unw_word_t words[2];

	/* The table's head: four bytes of formats, an address and a count. */
	if (!vdso.head || ip < vdso.start || ip >= vdso.end ||
	    a->access_mem(space, vdso.head, &words[0], 0, arg) < 0 ||
	    a->access_mem(space, vdso.head + 8, &words[1], 0, arg) < 0)
		return _UPT_find_proc_info(space, ip, out, need, arg);
	info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	info.u.rti.segbase = vdso.head;
	info.u.rti.table_data = vdso.head + 12;
	info.u.rti.table_len = (uint32_t)words[1];
	return search_table(space, ip, &info, out, need, arg);
}

static unw_addr_space_t space_new(void)
{
	unw_accessors_t accessors = _UPT_accessors;

	accessors.find_proc_info = find_info;
	return unw_create_addr_space(&accessors, 0);
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
		n = walk(o, t, frames, &is_cut);
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

static int is_traced(const struct outside *o)
{
	char text[4096];
	const char *at = NULL;

	if (task_file_read((uint32_t)o->pid, (uint32_t)o->pid, "status", text,
			   sizeof(text)))
		at = strstr(text, "\nTracerPid:");
	return at && atoi(at + 11);
}

int outside_check(pid_t pid)
{
	struct outside o = {.pid = pid};
	uint32_t tid = (uint32_t)pid;
	char text[256];

	if (!read_ran(&o, tid).ns)
		failure("there is no process %d", (int)pid);
	else if (is_traced(&o))
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
	vdso_find(o);
	o->space = space_new();
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
		due = n_due(o, t);
		if (due || t->is_seized)
			sample(o, t, due);
	}
	closedir(folder);
	for (uint32_t i = o->n; i-- > 0;)
		if (o->tasks[i].seen != o->n_rounds)
			task_drop(o, i);
	return n > 1 || (n && !strchr("ZX", read_state(o, (uint32_t)o->pid)));
}

uint64_t outside_stop_ns(const struct outside *o)
{
	return o->n_stops ? o->stopped_ns / o->n_stops : 0;
}
