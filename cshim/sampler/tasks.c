/* SPDX-License-Identifier: MIT
 *
 * The threads of this process: each has a lane, and a timer or a perf event
 * that interrupts it.  They are found as they begin, by pthread_create(), and
 * by looking into /proc/self/task now and then: some were there before us, and
 * some are made by other means.  System calls alone, no libc: a handler may
 * look, too.
 *
 * Only a thread that runs is interrupted, whatever the clock: a signal would
 * end the wait of the others.  Who waits, the reader sees from outside.
 */
#include "sampler.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_TASKS = CST_SAMPLE_LANES,
	LOOK_MS = 20,
	HIGH_FD = 512,	    /* the program's own numbers stay as they are */
	DELAY_NS = 5000000, /* of CPU time: more than the way back takes */
};

enum task_state { TASK_FREE = 0, TASK_BUSY, TASK_TIMED };

struct task {
	uint32_t tid;
	uint32_t state; /* enum task_state */
	int timer, fd;	/* -1: none */
	uint32_t seen;	/* number of the look that found it */
};

static struct task tasks[MAX_TASKS];
static uint32_t n_looks, is_looking;
static uint64_t looked_ns;

/* What a thread has: its lane, its number, and n_memories when it claimed the
 * lane.
 */
static __thread struct cst_lane *own __attribute__((tls_model("initial-exec")));
static __thread uint32_t own_tid __attribute__((tls_model("initial-exec")));
static __thread uint32_t own_memory __attribute__((tls_model("initial-exec")));
static uint32_t n_memories;
/* Its timer, while that is set to come later than usual. */
static __thread struct task *delayed __attribute__((tls_model("initial-exec")));

/* ---- lanes --------------------------------------------------------------- */

static uint32_t gettid_raw(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static struct cst_lane *lane_claim(uint32_t tid)
{
	for (uint32_t i = 0; i < CST_SAMPLE_LANES; i++) {
		struct cst_lane *l = &samples->lanes[i];
		uint32_t none = 0;

		if (__atomic_load_n(&l->tid, __ATOMIC_RELAXED) ||
		    !__atomic_compare_exchange_n(&l->tid, &none, tid, 0,
						 __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&l->process, sampled_process + 1,
				 __ATOMIC_RELEASE);
		return l;
	}
	__atomic_fetch_add(&samples->n_no_lane, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* A thread has ended without a word: the reader may free its lane. */
static void lane_end(uint32_t tid)
{
	for (uint32_t i = 0; i < CST_SAMPLE_LANES; i++) {
		struct cst_lane *l = &samples->lanes[i];

		if (__atomic_load_n(&l->tid, __ATOMIC_RELAXED) == tid &&
		    l->process == sampled_process + 1)
			__atomic_store_n(&l->is_ended, 1, __ATOMIC_RELEASE);
	}
}

void tasks_forget_lanes(void)
{
	__atomic_fetch_add(&n_memories, 1, __ATOMIC_RELEASE);
}

struct cst_lane *lane_own(void)
{
	uint32_t memory = __atomic_load_n(&n_memories, __ATOMIC_ACQUIRE);

	if (own_memory != memory) {
		own = NULL;
		own_tid = 0;
		own_memory = memory;
	}
	if (!own && samples && !own_tid) {
		own_tid = gettid_raw();
		own = lane_claim(own_tid);
	}
	return own;
}

/* ---- timers -------------------------------------------------------------- */

static uint64_t period_ns(void)
{
	uint32_t hz = samples->hz ? samples->hz : 1;

	return 1000000000ull / hz;
}

/* A perf event stands for some samples. */
static uint64_t event_ns(void)
{
	return period_ns() * samples->each;
}

/* The CPU time of a thread of ours, as the kernel numbers such clocks. */
static clockid_t cpu_clock(uint32_t tid)
{
	return (clockid_t)(~tid << 3 | 6);
}

/* Its first signal comes after `first` ns. */
static void timer_set(int timer, uint64_t first)
{
	uint64_t ns = period_ns();
	const struct itimerspec wanted = {
		.it_interval = {(time_t)(ns / 1000000000),
				(long)(ns % 1000000000)},
		.it_value = {(time_t)(first / 1000000000),
			     (long)(first % 1000000000)},
	};

	syscall(SYS_timer_settime, timer, 0, &wanted, NULL);
}

static int timer_begin(uint32_t tid)
{
	struct sigevent event;
	int timer = -1;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = sample_signal;
	event._sigev_un._tid = (pid_t)tid;
	if (syscall(SYS_timer_create, cpu_clock(tid), &event, &timer) < 0)
		return -1;
	timer_set(timer, period_ns());
	return timer;
}

/* Kernel time counts as well, or it would look as if nobody waited for it;
 * where only root may see that, timers do. */
static int event_begin(uint32_t tid)
{
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)tid};
	struct perf_event_attr attr;
	int fd, high;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = event_ns();
	attr.disabled = 1;
	attr.wakeup_events = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -1;
	high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_FD);
	syscall(SYS_close, fd);
	if (high < 0)
		return -1;
	if (syscall(SYS_fcntl, high, F_SETFL, O_ASYNC | O_RDWR) < 0 ||
	    syscall(SYS_fcntl, high, F_SETSIG, sample_signal) < 0 ||
	    syscall(SYS_fcntl, high, F_SETOWN_EX, &owner) < 0 ||
	    syscall(SYS_ioctl, high, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		syscall(SYS_close, high);
		return -1;
	}
	return high;
}

static int is_perf_wanted(void)
{
	uint32_t source = __atomic_load_n(&samples->source, __ATOMIC_RELAXED);

	return source != CST_SAMPLE_TIMERS;
}

static void task_arm(struct task *t)
{
	t->fd = is_perf_wanted() ? event_begin(t->tid) : -1;
	t->timer = t->fd < 0 ? timer_begin(t->tid) : -1;
	if (t->fd >= 0 || t->timer >= 0)
		__atomic_store_n(&samples->source,
				 t->fd >= 0 ? CST_SAMPLE_PERF
					    : CST_SAMPLE_TIMERS,
				 __ATOMIC_RELAXED);
}

/* A program that closes all descriptors may have another one there. */
static int is_ours(int fd, uint32_t tid)
{
	struct f_owner_ex owner = {0};

	return syscall(SYS_fcntl, fd, F_GETOWN_EX, &owner) == 0 &&
	       owner.type == F_OWNER_TID && owner.pid == (pid_t)tid;
}

static void event_set(const struct task *t, uint64_t ns)
{
	if (t->fd >= 0 && is_ours(t->fd, t->tid))
		syscall(SYS_ioctl, t->fd, PERF_EVENT_IOC_PERIOD, &ns);
}

static void task_disarm(struct task *t)
{
	if (t->timer >= 0)
		syscall(SYS_timer_delete, t->timer);
	if (t->fd >= 0 && is_ours(t->fd, t->tid))
		syscall(SYS_close, t->fd);
	t->timer = t->fd = -1;
}

/* ---- the table ----------------------------------------------------------- */

static struct task *task_find(uint32_t tid)
{
	for (uint32_t i = 0; i < MAX_TASKS; i++)
		if (__atomic_load_n(&tasks[i].tid, __ATOMIC_ACQUIRE) == tid)
			return &tasks[i];
	return NULL;
}

static void task_add(uint32_t tid, uint32_t look)
{
	struct task *t = task_find(tid);

	if (t) {
		t->seen = look;
		return;
	}
	for (uint32_t i = 0; i < MAX_TASKS; i++) {
		uint32_t none = TASK_FREE;

		t = &tasks[i];
		if (!__atomic_compare_exchange_n(&t->state, &none, TASK_BUSY, 0,
						 __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		t->seen = look;
		__atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE);
		task_arm(t);
		__atomic_store_n(&t->state, TASK_TIMED, __ATOMIC_RELEASE);
		return;
	}
}

static void task_drop(struct task *t)
{
	uint32_t timed = TASK_TIMED;

	if (!__atomic_compare_exchange_n(&t->state, &timed, TASK_BUSY, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	task_disarm(t);
	__atomic_store_n(&t->tid, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&t->state, TASK_FREE, __ATOMIC_RELEASE);
}

void task_begin(void)
{
	if (sampler_is_on())
		task_add(gettid_raw(), n_looks);
}

void task_delay(void)
{
	struct task *t = task_find(gettid_raw());

	if (!t || period_ns() >= DELAY_NS)
		return;
	if (t->timer >= 0)
		timer_set(t->timer, DELAY_NS);
	event_set(t, DELAY_NS);
	delayed = t;
}

/* It may have been dropped since; it is never held here, for who drops it does
 * not wait.  A timer has its own period again by itself. */
void task_end_delay(void)
{
	struct task *t = delayed;

	if (!t)
		return;
	delayed = NULL;
	if (__atomic_load_n(&t->tid, __ATOMIC_RELAXED) == gettid_raw())
		event_set(t, event_ns());
}

void task_end(void)
{
	struct task *t = task_find(gettid_raw());

	if (t)
		task_drop(t);
	/* A recorder that detaches takes the lanes away; a look ends them. */
	if (own && own_memory == n_memories && !sampler_is_attached()) {
		struct cst_lane *l = own;

		own = NULL; /* own_tid stays: it gets no other */
		__atomic_store_n(&l->is_ended, 1, __ATOMIC_RELEASE);
	}
}

void tasks_stop(void)
{
	for (uint32_t i = 0; i < MAX_TASKS; i++)
		task_drop(&tasks[i]);
}

void tasks_forked(void)
{
	for (uint32_t i = 0; i < MAX_TASKS; i++) {
		struct task *t = &tasks[i];

		/* Timers stay with the parent, descriptors come along. */
		if (t->state != TASK_FREE && t->fd >= 0 &&
		    is_ours(t->fd, t->tid))
			syscall(SYS_close, t->fd);
		*t = (struct task){.timer = -1, .fd = -1};
	}
	own = NULL;
	own_tid = 0;
	is_looking = 0;
	delayed = NULL;
}

void tasks_resignal(void)
{
	for (uint32_t i = 0; i < MAX_TASKS; i++) {
		struct task *t = &tasks[i];
		uint32_t timed = TASK_TIMED;

		if (!__atomic_compare_exchange_n(&t->state, &timed, TASK_BUSY,
						 0, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		task_disarm(t);
		task_arm(t);
		__atomic_store_n(&t->state, TASK_TIMED, __ATOMIC_RELEASE);
	}
}

/* ---- looking ------------------------------------------------------------- */

struct entry {
	uint64_t inode, offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Reads a file below a folder.  Returns its size, less what has no room. */
static long read_in(int folder, const char *path, char *out, size_t size)
{
	int fd = (int)syscall(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC);
	long n = fd >= 0 ? syscall(SYS_read, fd, out, size - 1) : 0;

	if (fd >= 0)
		syscall(SYS_close, fd);
	n = n > 0 ? n : 0;
	out[n] = '\0';
	return n;
}

/* Whether the thread blocks our signal.  Its timer's would wait, and a thread
 * that takes signals by sigwait() would find it. */
static int is_blocked(int folder, const char *name)
{
	static char text[8192]; /* one thread looks at a time */
	char path[32];
	const char *at;
	uint64_t mask = 0;

	strcpy(path, name);
	strcat(path, "/status");
	if (!read_in(folder, path, text, sizeof(text)))
		return 1;
	at = strstr(text, "\nSigBlk:\t");
	for (at = at ? at + 9 : ""; *at > ' '; at++)
		mask = mask << 4 |
		       (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	return (mask >> (sample_signal - 1) & 1) != 0;
}

static void look_at(int folder, const char *name, uint32_t look)
{
	uint32_t tid = 0;

	for (const char *c = name; *c >= '0' && *c <= '9'; c++)
		tid = tid * 10 + (uint32_t)(*c - '0');
	if (!tid)
		return;
	if (sampler_is_attached() && !task_find(tid) &&
	    is_blocked(folder, name))
		return;
	task_add(tid, look);
}

/* A look may miss a thread that is there. */
static int has_ended(uint32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) < 0;
}

static void drop_unseen(uint32_t look)
{
	for (uint32_t i = 0; i < MAX_TASKS; i++) {
		struct task *t = &tasks[i];

		if (t->state != TASK_TIMED || t->seen == look ||
		    !has_ended(t->tid))
			continue;
		lane_end(t->tid);
		task_drop(t);
	}
}

static void look(int fd)
{
	char buffer[1024] __attribute__((aligned(8)));
	uint32_t number = ++n_looks;
	long n;

	while ((n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < n;) {
			const struct entry *e = (void *)(buffer + at);

			look_at(fd, e->name, number);
			at += e->length;
		}
	if (n == 0)
		drop_unseen(number);
}

void tasks_scan(void)
{
	uint32_t none = 0;
	int fd;

	if (!__atomic_compare_exchange_n(&is_looking, &none, 1, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task",
			  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		look(fd);
		syscall(SYS_close, fd);
	}
	__atomic_store_n(&is_looking, 0, __ATOMIC_RELEASE);
}

void tasks_look(void)
{
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (ns - __atomic_load_n(&looked_ns, __ATOMIC_RELAXED) <
	    LOOK_MS * 1000000ull)
		return;
	__atomic_store_n(&looked_ns, ns, __ATOMIC_RELAXED);
	tasks_scan();
}
