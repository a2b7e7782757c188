/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The sampler arms the threads that it finds; we see from outside which of them
 * block its signal, and which run without a sample.
 */
#include "attach/inside.h"
#include "base/array.h"
#include "base/task_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SAMPLER "libcstrace-sample.so"

enum {
	MS = 1000000, /* ns */
	UNSAMPLED_MS =
		20, /* of CPU time; with a timer, a thread has a sample */
	TRIES = 2,
	SILENT_MS = 2000, /* of CPU time: the signal does not come any more */
	UNDO_TRIES = 5,
	LOOK_MS = 300, /* to wait for a safe place, while it runs */
};

static int fail(struct inside *s, const char *why)
{
	snprintf(s->guest.why, sizeof(s->guest.why), "%s", why);
	return 0;
}

/* ---- the process --------------------------------------------------------- */

static int places_find(struct inside *s)
{
	struct guest *g = &s->guest;

	return guest_symbol(g, "cstrace_sample_attach", 0, &s->attach) &&
	       guest_symbol(g, "cstrace_sample_look", 0, &s->look) &&
	       guest_symbol(g, "cstrace_sample_detach", 0, &s->detach) &&
	       guest_symbol(g, "cstrace_sample_control", 1, &s->control);
}

/* Calls `what` while one thread of the process is ours. */
static int visit(struct inside *s, const char *path,
		 int (*what)(struct inside *s, const char *path))
{
	struct guest *g = &s->guest;
	struct remote_modules m;
	struct cst_error err;
	/* The sampler opens our memory by its name in /proc. */
	const char *why = remote_modules_init(&m, s->tracee.pid, &err) < 0
				  ? err.text
			  : task_is_others((uint32_t)s->tracee.pid)
				  ? "it runs as another user"
				  : guest_obstacle(s->tracee.pid, &m, SAMPLER);
	int is_well = !why;

	if (why) /* without the advice on how to record it */
		snprintf(g->why, sizeof(g->why), "%.*s", (int)strcspn(why, ":"),
			 why);
	else
		is_well = guest_find(g, &m, SAMPLER, MODULE_SAMPLER) &&
			  places_find(s) && guest_enter(g);
	if (is_well) {
		is_well = what(s, path);
		is_well = guest_leave(g) && is_well;
	}
	g->modules = NULL;
	remote_modules_release(&m);
	return is_well;
}

/* Returns whether the sampler is still there: another program has other
 * memory. */
static int is_there(const struct inside *s)
{
	uint64_t magic;

	return tracee_read(&s->tracee, s->guest.bias + s->control, &magic,
			   sizeof(magic)) &&
	       magic == CST_SAMPLES_MAGIC;
}

/* It has a number of its own where it runs. */
static int is_in_namespace(pid_t pid)
{
	char text[8192];
	const char *at = NULL;
	int a, b;

	if (task_file_read((uint32_t)pid, (uint32_t)pid, "status", text,
			   sizeof(text)))
		at = strstr(text, "\nNSpid:");
	return at && sscanf(at + 7, "%d%*[\t ]%d", &a, &b) == 2;
}

/* ---- the signal ---------------------------------------------------------- */

static uint64_t bit(const struct inside *s)
{
	return 1ull << (s->signal - 1);
}

static uint64_t mask_of(const struct inside *s, pid_t tid)
{
	char text[8192];
	const char *at = NULL;

	if (task_file_read((uint32_t)s->tracee.pid, (uint32_t)tid, "status",
			   text, sizeof(text)))
		at = strstr(text, "\nSigBlk:");
	return at ? strtoull(at + 8, NULL, 16) : 0;
}

/* Whether it blocks the signal, now and when last seen: libc does so for
 * moments, and so does the sampler's handler, but that one in threads with
 * samples. */
static int is_blocked(const struct inside *s, pid_t tid)
{
	for (uint32_t i = 0; i < s->n_unsampled; i++)
		if (s->unsampled[i].tid == tid) /* most never have */
			return (s->unsampled[i].mask & bit(s)) &&
			       (mask_of(s, tid) & bit(s));
	return 0;
}

/* Such a thread would take our signal for one of its own. */
static int takes_signals(const struct inside *s, pid_t tid)
{
	char text[256];

	return task_file_read((uint32_t)s->tracee.pid, (uint32_t)tid, "syscall",
			      text, sizeof(text)) &&
	       atoi(text) == SYS_rt_sigtimedwait;
}

static int remember(struct inside *s, pid_t tid)
{
	if (array_room(&s->opened, &s->cap_opened, s->n_opened + 1ull) < 0)
		return 0;
	s->opened[s->n_opened++] = tid;
	return 1;
}

/* Blocks the signal in one thread, or opens it. */
static int set_blocked(struct inside *s, pid_t tid, int is_to_be)
{
	struct tracee *t = &s->tracee;
	pid_t steered = s->guest.call ? s->guest.call->tid : 0;
	uint64_t mask;
	int is_well = tracee_stop(t, tid) &&
		      ptrace(PTRACE_GETSIGMASK, tid, (void *)8, &mask) == 0;

	mask = !is_well ? 0 : is_to_be ? mask | bit(s) : mask & ~bit(s);
	is_well = is_well &&
		  ptrace(PTRACE_SETSIGMASK, tid, (void *)8, &mask) == 0;
	tracee_let_go(t, steered);
	return is_well;
}

/* Opens it in all threads that block it but do not take signals by waiting for
 * them.  Returns whether the thread that is ours has it open. */
static int open_all(struct inside *s)
{
	struct remote_call *c = s->guest.call;
	uint32_t n;
	pid_t *all = tracee_threads(&s->tracee, 0, &n);

	for (uint32_t i = 0; i < n; i++)
		if (all[i] != c->tid && is_blocked(s, all[i]) &&
		    !takes_signals(s, all[i]) && set_blocked(s, all[i], 0))
			remember(s, all[i]);
	free(all);
	if ((c->mask & bit(s)) &&
	    c->registers.orig_rax != SYS_rt_sigtimedwait && remember(s, c->tid))
		c->mask &= ~bit(s);
	return !(c->mask & bit(s));
}

/* ---- what one thread does ------------------------------------------------ */

static const char *reason(uint64_t answer)
{
	switch ((int)answer) {
	case EBUSY:
		return "another cstrace samples it";
	case ELIBACC:
		return "it finds no libunwind-x86_64.so.8 (package libunwind8)";
	case EAGAIN:
		return "no signal is free in it";
	case EACCES:
		return "it may not open our memory";
	default:
		return "libcstrace-sample.so cannot begin in it";
	}
}

/* A look finds no thread that blocks the signal, as ours does for the call. */
static int look_in(struct inside *s, const char *path)
{
	const uint64_t arguments[3] = {(uint64_t)open_all(s)};
	uint64_t unused;

	(void)path;
	return guest_call(&s->guest, s->look, arguments, &unused);
}

static int begin_in(struct inside *s, const char *path)
{
	struct guest *g = &s->guest;
	uint64_t arguments[3] = {0}, answer, at;
	uint32_t number;

	if (!guest_load(g))
		return 0;
	arguments[0] = remote_call_put(g->call, 0, path, strlen(path) + 1);
	if (!arguments[0] || !guest_call(g, s->attach, arguments, &answer))
		return 0;
	if ((int)answer)
		return fail(s, reason(answer));
	at = g->bias + s->control + offsetof(struct cst_sample_control, signal);
	if (!tracee_read(&s->tracee, at, &number, sizeof(number)) || !number ||
	    number > 64)
		return fail(s, "it has ended");
	s->signal = s->tracee.own_signal = (int)number;
	return look_in(s, path);
}

static int detach_in(struct inside *s, const char *path)
{
	const uint64_t none[3] = {0};
	uint64_t answer = EAGAIN;

	(void)path;
	for (int i = 0; i < UNDO_TRIES && (int)answer; i++)
		if (!guest_call(&s->guest, s->detach, none, &answer))
			return 0;
	return (int)answer ? fail(s, "a thread of it is taking a sample") : 1;
}

/* ---- threads without a sample -------------------------------------------- */

static int has_lane(const struct inside *s, pid_t tid)
{
	for (uint32_t i = 0; i < CST_SAMPLE_LANES; i++)
		if (__atomic_load_n(&s->samples->lanes[i].tid,
				    __ATOMIC_RELAXED) == (uint32_t)tid)
			return 1;
	return 0;
}

static uint64_t ran_ns_of(const struct inside *s, pid_t tid)
{
	char text[96];

	return task_file_read((uint32_t)s->tracee.pid, (uint32_t)tid,
			      "schedstat", text, sizeof(text))
		       ? strtoull(text, NULL, 10)
		       : 0;
}

/* Adds the thread to those of this look, the first n. */
static struct unsampled *note(struct inside *s, pid_t tid, uint32_t n)
{
	struct unsampled *all,
		one = {.tid = tid, .since_ns = ran_ns_of(s, tid)};

	for (uint32_t i = n; i < s->n_unsampled; i++)
		if (s->unsampled[i].tid == tid) {
			one = s->unsampled[i];
			s->unsampled[i] = s->unsampled[n];
			s->unsampled[n] = one;
			return &s->unsampled[n];
		}
	if (array_room(&s->unsampled, &s->cap_unsampled,
		       s->n_unsampled + 1ull) < 0)
		return NULL;
	all = s->unsampled;
	all[s->n_unsampled++] = all[n];
	all[n] = one;
	return &all[n];
}

/* Returns whether there are threads that run and have no sample. */
static int has_unsampled(struct inside *s)
{
	uint32_t n, n_noted = 0;
	pid_t *all = tracee_threads(&s->tracee, 0, &n);
	int is_any = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct unsampled *one;

		if (has_lane(s, all[i]))
			continue;
		one = note(s, all[i], n_noted);
		if (!one)
			break;
		n_noted++;
		one->mask = mask_of(s, all[i]);
		if (one->n_tries < TRIES &&
		    ran_ns_of(s, all[i]) - one->since_ns > UNSAMPLED_MS * MS) {
			one->n_tries++;
			one->since_ns = ran_ns_of(s, all[i]);
			is_any = 1;
		}
	}
	s->n_unsampled = n_noted;
	free(all);
	return is_any;
}

/* ---- the whole ----------------------------------------------------------- */

static struct cst_samples *map(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *base = MAP_FAILED;

	if (fd >= 0) {
		base = mmap(NULL, sizeof(struct cst_samples), PROT_READ,
			    MAP_SHARED, fd, 0);
		close(fd);
	}
	return base == MAP_FAILED ? NULL : base;
}

int inside_begin(struct inside *s, pid_t pid, const char *path,
		 uint64_t limit_ms, const volatile int *is_cancelled)
{
	int error;

	*s = (struct inside){
		.guest = {.is_cancelled = is_cancelled, .limit_ms = limit_ms}};
	s->guest.tracee = &s->tracee;
	error = tracee_open(&s->tracee, pid);
	if (error)
		return fail(s, strerror(error));
	if (is_in_namespace(pid))
		return fail(s, "it is in a container");
	s->samples = map(path);
	if (!s->samples)
		return fail(s, strerror(errno));
	has_unsampled(s);
	if (visit(s, path, begin_in))
		return 1;
	if (s->signal)
		inside_undo(s);
	return 0;
}

int inside_undo(struct inside *s)
{
	static const volatile int is_never = 0;
	int is_well = 1;

	s->guest.is_cancelled = &is_never;
	s->guest.limit_ms = 0;
	if (is_there(s))
		is_well = visit(s, NULL, detach_in) || !is_there(s);
	for (uint32_t i = 0; i < s->n_opened; i++)
		set_blocked(s, s->opened[i], 1);
	s->n_opened = 0;
	return is_well;
}

void inside_end(struct inside *s)
{
	if (s->guest.tracee)
		tracee_close(&s->tracee);
	if (s->samples)
		munmap(s->samples, sizeof(*s->samples));
	free(s->opened);
	free(s->unsampled);
	*s = (struct inside){0};
}

/* ---- while it runs ------------------------------------------------------- */

/* Returns whether samples have come lately. */
static int is_sampled(struct inside *s, uint64_t ran_ns)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < CST_SAMPLE_LANES; i++)
		n += __atomic_load_n(&s->samples->lanes[i].head,
				     __ATOMIC_RELAXED);
	if (n != s->n_words || !s->words_ns) {
		s->n_words = n;
		s->words_ns = ran_ns;
	}
	return ran_ns - s->words_ns < SILENT_MS * (uint64_t)MS;
}

int inside_look(struct inside *s, uint64_t ran_ns)
{
	char why[96];

	*s->guest.why = '\0';
	if (!is_there(s))
		return 0;
	if (!is_sampled(s, ran_ns)) {
		snprintf(why, sizeof(why),
			 "it has taken signal %d for itself, or blocks it",
			 s->signal);
		return fail(s, why);
	}
	if (has_unsampled(s)) {
		s->guest.limit_ms = LOOK_MS;
		visit(s, NULL, look_in);
	}
	return 1;
}
