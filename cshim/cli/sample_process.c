/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Samples a process that runs already into a trace file, until it ends or the
 * user does: from within where it can load the sampler, else from outside.
 */
#include "sample_process.h"
#include "attach/inside.h"
#include "outside.h"
#include "process_names.h"
#include "recorder_setup.h"
#include "trace_input.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	INSIDE_HZ = 997,
	OUTSIDE_HZ = 97, /* each costs the program more than one of its own */
	OUTSIDE_MOST_HZ = 2000,
	LOOK_MS = 100,
	SOON_MS = 400, /* who looks on waits no longer for a safe place */
};

struct sampling {
	const struct options *o;
	uint32_t hz;
	struct cst_recorder *recorder;
	struct bfd_names *naming;
	struct outside *outside; /* NULL: it is sampled from within */
	struct inside inside;
	uint64_t stood_ns; /* for which a thread stood still at most */
	pid_t pid;
	int process; /* descriptor */
	struct process_names names;
	int is_silent;
	/* From the begin to the end, and the CPU time of the process. */
	uint64_t begin_ns, taken_ns, ran_begin_ns, ran_ns;
};

static volatile int is_over;

static void end(int number)
{
	(void)number;
	is_over = 1;
}

/* Names are asked for at the end. */
static void wanted(void *arg)
{
	(void)arg;
}

static int set_source(struct sampling *s, uint32_t source,
		      struct cst_error *err)
{
	return cst_recorder_sample(s->recorder, s->hz,
				   s->o->is_wall ? CST_SAMPLE_WALL
						 : CST_SAMPLE_CPU,
				   source, 0, err);
}

static int open_recorder(struct sampling *s, struct cst_error *err)
{
	const struct recorder_setup setup = {
		.spool = s->o->output,
		.limit_bytes = s->o->max_bytes,
		.pool_chunks = 64,
		.command = s->names.command,
		.module = s->names.module,
		.naming = s->naming,
		.wanted = wanted,
	};
	int status = recorder_set_up(s->o, &setup, &s->recorder, err);

	return status < 0 ? status
			  : set_source(s,
				       s->o->is_outside ? CST_SAMPLE_STOPS
							: CST_SAMPLE_UNKNOWN,
				       err);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* When the process has ended, its last reading stays. */
static void read_clocks(struct sampling *s)
{
	clockid_t its;
	uint64_t ran = clock_getcpuclockid(s->pid, &its) ? 0 : clock_ns(its);

	s->taken_ns = clock_ns(CLOCK_MONOTONIC) - s->begin_ns;
	if (ran > s->ran_ns)
		s->ran_ns = ran;
}

/* Also where its parent has not asked yet how it ended. */
static int has_ended(const struct sampling *s)
{
	struct pollfd its = {.fd = s->process, .events = POLLIN};

	return poll(&its, 1, 0) > 0;
}

/* ---- from within --------------------------------------------------------- */

static int begin_inside(struct sampling *s)
{
	return !s->o->is_outside &&
	       inside_begin(&s->inside, s->pid,
			    cst_recorder_samples_path(s->recorder),
			    s->is_silent ? SOON_MS : 0, &is_over);
}

static void watch_inside(struct sampling *s)
{
	struct pollfd its = {.fd = s->process, .events = POLLIN};

	for (;;) {
		uint64_t left_ms = LOOK_MS;

		read_clocks(s);
		if (is_over || its.revents ||
		    (s->o->sample_ns && s->taken_ns >= s->o->sample_ns) ||
		    !inside_look(&s->inside, s->ran_ns))
			break;
		if (s->o->sample_ns &&
		    s->o->sample_ns - s->taken_ns < LOOK_MS * 1000000ull)
			left_ms = (s->o->sample_ns - s->taken_ns) / 1000000 + 1;
		poll(&its, 1, (int)left_ms);
	}
	if (*s->inside.guest.why)
		failure("process %d sends no more samples: %s", (int)s->pid,
			s->inside.guest.why);
	if (!inside_undo(&s->inside))
		failure("process %d keeps its timers until it runs again: %s",
			(int)s->pid, s->inside.guest.why);
	cst_recorder_sample_end(s->recorder);
	s->stood_ns = s->inside.tracee.longest_some_ns;
}

/* ---- from outside -------------------------------------------------------- */

static int begin_outside(struct sampling *s)
{
	struct cst_error err;
	int status;

	if (!s->o->sample_hz)
		s->hz = OUTSIDE_HZ;
	if (s->hz > OUTSIDE_MOST_HZ)
		s->hz = OUTSIDE_MOST_HZ;
	if (!s->o->is_outside)
		failure("process %d is sampled from outside, %" PRIu32
			" times a second: %s",
			(int)s->pid, s->hz, s->inside.guest.why);
	status = trace_input_end(set_source(s, CST_SAMPLE_STOPS, &err), &err);
	if (status)
		return status;
	s->outside =
		outside_new(s->pid, cst_recorder_samples_path(s->recorder));
	return s->outside ? STATUS_OK : STATUS_FAILED;
}

static void watch_outside(struct sampling *s)
{
	uint64_t period = 1000000000ull / s->hz, next = s->begin_ns;

	do {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		next = next + period > now ? next + period : now;
		outside_wait(s->outside, next);
		read_clocks(s);
	} while (!is_over &&
		 (!s->o->sample_ns || s->taken_ns < s->o->sample_ns) &&
		 outside_round(s->outside));
}

/* ---- the end ------------------------------------------------------------- */

/* A thread that is asked to stop does so where it next leaves a system call, or
 * when the request has reached its processor. */
static void tell_bias(const struct sampling *s)
{
	int refusal = outside_refusal(s->outside);

	failure("what ran for less than some 50 us between two system calls "
		"has too few samples, and those too many; perf events, which "
		"are exact, %s%s%s",
		refusal == E2BIG ? "take up to 64 threads" : "were refused: ",
		refusal == E2BIG ? "" : strerror(refusal),
		refusal == E2BIG ? ""
				 : " (root has them, and all with "
				   "kernel.perf_event_paranoid below 2)");
}

/* How many there are, and what they are of: a process that gets a fourth of a
 * processor has a fourth of the samples. */
static void tell_end(struct sampling *s, const struct cst_status_report *status)
{
	fprintf(stderr,
		"cstrace: %" PRIu64 " samples in %" PRIu32 " %s in %s, ",
		status->n_samples, status->n_threads,
		status->n_threads == 1 ? "thread" : "threads", s->o->output);
	if (!s->o->is_wall)
		fprintf(stderr, "of %.3f s that it ran in ",
			(double)(s->ran_ns - s->ran_begin_ns) / 1e9);
	fprintf(stderr, "%.3f s", (double)s->taken_ns / 1e9);
	if (s->outside && !outside_refusal(s->outside))
		fprintf(stderr, ", by perf events");
	else if (!s->outside)
		fprintf(stderr, "; a thread stood still for at most %.1f ms",
			(double)s->stood_ns / 1e6);
	else
		fprintf(stderr, "; each stopped a thread for %.0f us",
			(double)outside_stop_ns(s->outside) / 1e3);
	fputc('\n', stderr);
	if (s->outside && outside_refusal(s->outside))
		tell_bias(s);
}

static int finish(struct sampling *s)
{
	struct cst_status_report status;
	struct cst_trace *trace;
	struct cst_error err;

	bfd_names_drain(s->naming, s->recorder);
	if (cst_recorder_end(s->recorder, &trace, &err) < 0)
		return failure("%s", err.text);
	cst_trace_status(trace, &status);
	cst_trace_free(trace);
	if (!status.n_samples)
		return failure("no samples: process %d %s", (int)s->pid,
			       !s->o->is_wall ? "only waited: --wall sees where"
			       : has_ended(s) ? "has ended"
					      : "had too little time");
	if (!s->is_silent)
		tell_end(s, &status);
	return STATUS_OK;
}

static int sample(struct sampling *s)
{
	int is_inside = begin_inside(s), status = STATUS_OK;

	if (!is_inside && is_over)
		return failure("no samples of process %d: %s", (int)s->pid,
			       s->inside.guest.why);
	if (!is_inside && has_ended(s))
		return failure("no samples: process %d has ended", (int)s->pid);
	if (!is_inside)
		status = begin_outside(s);
	if (status)
		return status;
	if (!s->is_silent)
		fprintf(stderr, "cstrace: sampling process %d%s\n", (int)s->pid,
			s->o->sample_ns ? "" : ": Ctrl-C ends it");
	s->begin_ns = clock_ns(CLOCK_MONOTONIC);
	read_clocks(s);
	s->ran_begin_ns = s->ran_ns;
	if (is_inside)
		watch_inside(s);
	else
		watch_outside(s);
	return finish(s);
}

static int run(struct sampling *s)
{
	const struct sigaction action = {.sa_handler = end};
	struct cst_error err;
	int status;

	if (!outside_check(s->pid))
		return STATUS_FAILED;
	process_names_read(&s->names, s->pid);
	s->process = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (s->process < 0)
		return failure("cannot watch process %d: %s", (int)s->pid,
			       strerror(errno));
	s->naming = bfd_names_new(recorder_tell, NULL);
	if (!s->naming)
		return failure("out of memory");
	status = trace_input_end(open_recorder(s, &err), &err);
	if (status)
		return status;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	return sample(s);
}

int sample_process_rate(const struct command *c, const struct options *o)
{
	if (o->is_outside && o->sample_hz > OUTSIDE_MOST_HZ)
		return usage_error(c,
				   "from outside no more than %d samples a "
				   "second are taken",
				   OUTSIDE_MOST_HZ);
	return STATUS_OK;
}

int sample_process(const struct options *o, int is_silent)
{
	struct sampling s = {.o = o,
			     .pid = o->pid,
			     .hz = o->sample_hz ? o->sample_hz : INSIDE_HZ,
			     .inside = {.tracee = {.memory = -1}},
			     .process = -1,
			     .is_silent = is_silent};
	int status = run(&s);

	inside_end(&s.inside);
	outside_free(s.outside);
	cst_recorder_close(s.recorder);
	bfd_names_free(s.naming);
	if (s.process >= 0)
		close(s.process);
	return status;
}
