/* SPDX-License-Identifier: MIT
 *
 * The life of the sampler in one process: the shared memory that
 * CSTRACE_SAMPLES names, this process's place in it, forks, and the program's
 * end.
 */
#include "sampler.h"
#include "cstrace/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

EXPORT struct cst_sample_control cstrace_sample_control = {
	.magic = CST_SAMPLES_MAGIC};

struct cst_samples *samples;
uint32_t sampled_process = CST_SAMPLED_PROCESSES;

int cstrace_sample_start(const char *path);

static uint32_t is_on;
static uint64_t until; /* ticks; 0: no end */
static int has_forks, is_attached;
static char reader_path[64]; /* its memory: gone when it has ended */

int sampler_is_on(void)
{
	return (int)__atomic_load_n(&is_on, __ATOMIC_RELAXED);
}

int sampler_is_attached(void)
{
	return is_attached;
}

/* errno stays as it was: the handler saves it. */
static int is_reader_gone(void)
{
	return syscall(SYS_access, reader_path, F_OK) < 0 && errno == ENOENT;
}

void sampler_look_for_reader(void)
{
	if (is_attached && is_reader_gone())
		sampler_stop();
}

int sampler_is_over(uint64_t now)
{
	return (until && now > until) ||
	       !__atomic_load_n(&samples->is_on, __ATOMIC_RELAXED);
}

void sampler_obey(void)
{
	static uint32_t seen;
	uint32_t request = __atomic_load_n(&cstrace_sample_control.request,
					   __ATOMIC_ACQUIRE);

	if (request == seen)
		return;
	seen = request;
	if (sampler_is_on())
		sampler_stop();
	cstrace_sample_start(NULL);
}

/* ---- the shared memory --------------------------------------------------- */

/* open(), read() and close() may be the program's own. */
static int file_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC);
}

static struct cst_samples *samples_map(const char *path)
{
	struct cst_samples *s;
	struct stat st;
	int fd = file_open(path, O_RDWR);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size != sizeof(*s)) {
		syscall(SYS_close, fd);
		return NULL;
	}
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	syscall(SYS_close, fd);
	if (s == MAP_FAILED)
		return NULL;
	if (s->magic == CST_SAMPLES_MAGIC && s->size == sizeof(*s))
		return s;
	munmap(s, sizeof(*s));
	return NULL;
}

/* The lines of files that have code, as many as there is room for. */
static uint32_t maps_trim(char *text, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t at = 0; at < n;) {
		const char *end = memchr(text + at, '\n', n - at);
		uint32_t next =
			end ? (uint32_t)(end - text) + 1 : n; /* cut short */
		const char *mode = memchr(text + at, ' ', next - at);

		if (end && mode && mode + 4 < end && mode[3] == 'x' &&
		    memchr(mode, '/', (size_t)(end - mode))) {
			memmove(text + kept, text + at, next - at);
			kept += next - at;
		}
		at = next;
	}
	return kept;
}

/* What is mapped now, for a reader that comes when we are gone. */
static void maps_copy(struct cst_sampled_process *p)
{
	int fd = file_open("/proc/self/maps", O_RDONLY);
	uint32_t n = 0;

	while (fd >= 0 && n < sizeof(p->maps)) {
		long got =
			syscall(SYS_read, fd, p->maps + n, sizeof(p->maps) - n);

		if (got <= 0)
			break;
		n = maps_trim(p->maps, n + (uint32_t)got);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	__atomic_store_n(&p->maps_size, n, __ATOMIC_RELEASE);
}

static int process_begin(uint32_t parent)
{
	uint32_t i = __atomic_load_n(&samples->n_processes, __ATOMIC_RELAXED);
	struct cst_sampled_process *p;

	do {
		if (i >= CST_SAMPLED_PROCESSES)
			return 0;
	} while (!__atomic_compare_exchange_n(&samples->n_processes, &i, i + 1,
					      1, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	p = &samples->processes[i];
	p->parent = parent;
	__atomic_store_n(&p->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
	sampled_process = i;
	return 1;
}

/* ---- forks --------------------------------------------------------------- */

/* Whether samples are taken may change between them. */
static void before_fork(void)
{
	rules_hold();
}

static void after_fork(void)
{
	rules_release(0);
}

/* One that is attached to arms no thread that blocks the signal. */
static int is_own_blocked(void)
{
	sigset_t now;

	return is_attached && pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 &&
	       sigismember(&now, sample_signal);
}

static void in_child(void)
{
	rules_release(1);
	handler_forked();
	if (!sampler_is_on())
		return;
	tasks_forked();
	if (!process_begin(sampled_process + 1))
		is_on = 0;
	else if (!is_own_blocked())
		task_begin();
}

/* ---- on and off ---------------------------------------------------------- */

int sampler_start(void)
{
	if (!samples || sampled_process >= CST_SAMPLED_PROCESSES)
		return 0;
	if (sampler_is_on())
		return 1;
	if (!rules_begin() || !handler_install())
		return 0;
	cstrace_sample_control.signal = (uint32_t)sample_signal;
	until = samples->for_ticks ? clock_ticks() + samples->for_ticks : 0;
	__atomic_store_n(&is_on, 1, __ATOMIC_SEQ_CST);
	if (!is_attached)
		task_begin();
	tasks_scan();
	return 1;
}

void sampler_stop(void)
{
	__atomic_store_n(&is_on, 0, __ATOMIC_SEQ_CST);
	tasks_stop();
}

/* For gdb, which calls them in a program that runs already; without a path
 * cstrace_sample_control has it.  0: done. */
EXPORT int cstrace_sample_start(const char *path)
{
	if (!path && cstrace_sample_control.path[0])
		path = cstrace_sample_control.path;
	if (!samples && path) {
		samples = samples_map(path);
		if (!samples || !process_begin(0))
			return -1;
		maps_copy(&samples->processes[sampled_process]);
	}
	if (!has_forks) {
		has_forks = 1;
		pthread_atfork(before_fork, after_fork, in_child);
	}
	return sampler_start() ? 0 : -1;
}

EXPORT int cstrace_sample_stop(void)
{
	sampler_stop();
	return 0;
}

/* ---- in a program that ran already --------------------------------------- */

EXPORT int cstrace_sample_attach(const char *path)
{
	int status;

	if (samples && (!is_attached || !is_reader_gone()))
		return EBUSY;
	status = cstrace_sample_detach();
	if (status)
		return status;
	if (strlen(path) >= sizeof(reader_path))
		return ENAMETOOLONG;
	if (!rules_begin())
		return ELIBACC;
	strcpy(reader_path, path);
	is_attached = 1;
	tasks_forget_lanes();
	if (cstrace_sample_start(path) == 0)
		return 0;
	status = !samples ? EACCES : !sample_signal ? EAGAIN : ENOSPC;
	cstrace_sample_detach();
	return status;
}

EXPORT void cstrace_sample_look(uint64_t is_own_open)
{
	if (!sampler_is_on())
		return;
	if (is_own_open)
		task_begin();
	tasks_scan();
	task_delay();
}

EXPORT int cstrace_sample_detach(void)
{
	struct cst_samples *old = samples;

	sampler_stop();
	handler_remove();
	if (!handler_is_left())
		return EAGAIN;
	cstrace_sample_control.signal = 0;
	sampled_process = CST_SAMPLED_PROCESSES;
	samples = NULL;
	is_attached = 0;
	if (old)
		munmap(old, sizeof(*old));
	return 0;
}

/* getenv() may be the program's own. */
static const char *environment_value(const char *name)
{
	size_t n = strlen(name);

	for (char **entry = environ; entry && *entry; entry++)
		if (!strncmp(*entry, name, n) && (*entry)[n] == '=')
			return *entry + n + 1;
	return NULL;
}

/* ---- the program's begin and end ----------------------------------------- */

__attribute__((constructor)) static void begin(void)
{
	const char *path = environment_value("CSTRACE_SAMPLES");

	libc_find();
	if (cstrace_sample_control.path[0])
		path = NULL;
	if ((path && *path) || cstrace_sample_control.path[0])
		cstrace_sample_start(path);
}

__attribute__((destructor)) static void end(void)
{
	sampler_stop();
	if (samples && sampled_process < CST_SAMPLED_PROCESSES)
		__atomic_store_n(&samples->processes[sampled_process].is_ended,
				 1, __ATOMIC_RELEASE);
}
