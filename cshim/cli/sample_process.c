/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Samples a process that runs already into a trace file, until it ends or the
 * user does.
 */
#include "sample_process.h"
#include "outside.h"
#include "process_names.h"
#include "recorder_setup.h"
#include "trace_input.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct sampling {
	const struct options *o;
	struct cst_recorder *recorder;
	struct bfd_names *naming;
	struct outside *outside;
	pid_t pid;
	struct process_names names;
	int is_silent;
	uint64_t taken_ns; /* from the begin to the end */
};

static volatile sig_atomic_t is_over;

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
		.source = CST_SAMPLE_STOPS,
	};

	return recorder_set_up(s->o, &setup, &s->recorder, err);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void take_all(struct sampling *s)
{
	uint64_t period = 1000000000ull / s->o->sample_hz;
	uint64_t begin = now_ns(), next = begin;
	uint64_t until = begin + s->o->sample_ns;
	struct sigaction action = {.sa_handler = end};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!is_over && (!s->o->sample_ns || next < until) &&
	       outside_round(s->outside)) {
		uint64_t now = now_ns();
		struct timespec rest;

		next = next + period > now ? next + period : now;
		rest.tv_sec = (time_t)((next - now) / 1000000000);
		rest.tv_nsec = (long)((next - now) % 1000000000);
		nanosleep(&rest, NULL);
	}
	s->taken_ns = now_ns() - begin;
}

/* How many there are, and what they are of: a process that gets a fourth of a
 * processor has a fourth of the samples. */
static void tell_end(struct sampling *s, const struct cst_status_report *status)
{
	uint64_t ran_ns = outside_ran_ns(s->outside);

	fprintf(stderr,
		"cstrace: %" PRIu64 " samples in %" PRIu32 " %s in %s, ",
		status->n_samples, status->n_threads,
		status->n_threads == 1 ? "thread" : "threads", s->o->output);
	if (!s->o->is_wall)
		fprintf(stderr, "of %.3f s that it ran in ",
			(double)ran_ns / 1e9);
	fprintf(stderr, "%.3f s", (double)s->taken_ns / 1e9);
	if (outside_stop_ns(s->outside))
		fprintf(stderr, "; each stopped a thread for %.0f us",
			(double)outside_stop_ns(s->outside) / 1e3);
	fputc('\n', stderr);
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
			       s->o->is_wall
				       ? "has ended"
				       : "only waited: --wall sees where");
	if (!s->is_silent)
		tell_end(s, &status);
	return STATUS_OK;
}

static int run(struct sampling *s)
{
	struct cst_error err;
	int status;

	process_names_read(&s->names, s->pid);
	s->naming = bfd_names_new(recorder_tell, NULL);
	if (!s->naming)
		return failure("out of memory");
	status = trace_input_end(open_recorder(s, &err), &err);
	if (status)
		return status;
	s->outside =
		outside_new(s->pid, cst_recorder_samples_path(s->recorder));
	if (!s->outside)
		return STATUS_FAILED;
	take_all(s);
	return finish(s);
}

enum {
	USUAL_HZ = 97, /* each costs the program more than one of its own */
	MOST_HZ = 2000,
};

int sample_process_rate(const struct command *c, struct options *o)
{
	if (!o->sample_hz)
		o->sample_hz = USUAL_HZ;
	if (o->sample_hz > MOST_HZ)
		return usage_error(c,
				   "from outside no more than %d samples a "
				   "second are taken: cstrace record --sample "
				   "takes more",
				   MOST_HZ);
	return STATUS_OK;
}

int sample_process(const struct options *o, int is_silent)
{
	struct sampling s = {.o = o, .pid = o->pid, .is_silent = is_silent};
	int status = run(&s);

	outside_free(s.outside);
	cst_recorder_close(s.recorder);
	bfd_names_free(s.naming);
	return status;
}
