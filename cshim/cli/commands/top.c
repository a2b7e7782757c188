/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace top`: the functions that take most and where each thread
 * is, drawn anew while a trace is being written.  A process is sampled by a
 * child of ours, into a trace of no other use.
 */
#include "base/error.h"
#include "command.h"
#include "options.h"
#include "sample_process.h"
#include "screen.h"
#include "trace_file.h"
#include "tell.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	USUAL_ROWS = 20,      /* without a terminal */
	OTHER_ROWS = 6,	      /* the head, the notes, and between the parts */
	LEAST_NS = 100000000, /* between two pictures */
	DRAWN_SHARE = 10, /* a picture takes this part of our time at most */
};

struct top {
	struct options o;
	const char *path;
	char folder[256], own_path[300]; /* of a process's samples */
	int lock;			 /* which makes the folder ours */
	pid_t child;			 /* that takes them; 0: it has ended */
	int child_status;
	int is_screen;
	struct screen screen;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- one picture --------------------------------------------------------- */

/* A cst_write_fn. */
static int collect(void *arg, const char *text, uint64_t size)
{
	return fwrite(text, 1, size, arg) == size ? 0 : CST_MEMORY;
}

/* A name that cannot be had is an address: the picture says enough. */
static void tell_nothing(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static void put_head(const struct top *top, const struct cst_status_report *s,
		     FILE *out)
{
	if (top->o.pid)
		fprintf(out, "process %d", top->o.pid);
	else
		fputs(top->path, out);
	fprintf(out, ": %" PRIu64 " %s in %" PRIu32 " %s, %.1f s",
		s->n_samples ? s->n_samples : s->n_calls,
		s->n_samples ? "samples" : "calls", s->n_threads,
		s->n_threads == 1 ? "thread" : "threads",
		(double)s->duration_ns / 1e9);
	if (top->o.recent_ns && s->duration_ns > top->o.recent_ns)
		fprintf(out, "; below: the last %g s",
			(double)top->o.recent_ns / 1e9);
	fputs(top->is_screen ? "  (q ends)\n\n" : "\n\n", out);
}

/* How many functions have room above the threads, which get up to half. */
static uint32_t n_rows(const struct top *top, uint32_t n_threads)
{
	uint32_t rows = top->screen.rows;

	if (top->o.is_limited)
		return top->o.limit;
	if (!top->is_screen)
		return USUAL_ROWS;
	rows = rows > OTHER_ROWS ? rows - OTHER_ROWS : 2;
	return rows - (n_threads < rows / 2 ? n_threads : rows / 2);
}

/* Returns the number of functions, or a negative status. */
static int64_t put_all(struct top *top, struct cst_trace *t, FILE *out,
		       struct cst_error *err)
{
	struct cst_choice choice = top->o.choice;
	struct cst_report report = top->o.report;
	struct cst_status_report s;
	auto_free char *stacks = NULL;
	size_t size = 0;
	FILE *threads = open_memstream(&stacks, &size);
	int64_t n = 0, n_functions;

	if (!threads)
		return cst_fail_memory(err);
	cst_trace_status(t, &s);
	if (top->o.recent_ns && s.duration_ns > top->o.recent_ns)
		choice.range_from_ns = s.duration_ns - top->o.recent_ns;
	if (s.n_samples)
		n = cst_trace_stacks(t, &choice, 1, collect, threads, err);
	fclose(threads);
	if (n < 0)
		return n;
	put_head(top, &s, out);
	report.no_messages = 1;
	report.limit = n_rows(top, (uint32_t)n);
	n_functions = cst_trace_report(t, &report, &choice, collect, out, err);
	fprintf(out, "%s\n%s", n_functions ? "" : "nothing ran\n",
		stacks ? stacks : "");
	return n_functions;
}

/* Somebody has just begun to write it. */
static int is_empty(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !st.st_size;
}

/* Returns 1, 0 if the trace is complete, or a negative exit code. */
static int draw(struct top *top)
{
	struct cst_error err;
	struct cst_trace *t;
	auto_free char *picture = NULL;
	size_t size = 0;
	int is_complete;
	int64_t n;
	FILE *out;

	if (cst_trace_load(top->path, &t, &err) < 0)
		return top->child > 0 || is_empty(top->path)
			       ? 1
			       : -failure("%s", err.text);
	cst_trace_rename(t, top->o.debug_dirs, top->o.n_debug_dirs,
			 tell_nothing, NULL);
	is_complete = cst_trace_is_complete(t);
	if (!top->o.is_all)
		cst_trace_choice(t, &top->o.choice);
	out = open_memstream(&picture, &size);
	n = out ? put_all(top, t, out, &err) : cst_fail_memory(&err);
	if (out)
		fclose(out);
	cst_trace_free(t);
	if (n < 0)
		return -failure("%s", err.text);
	if (top->is_screen)
		screen_draw(&top->screen, picture, size);
	else
		fwrite(picture, 1, size, stdout);
	return !is_complete;
}

/* ---- a process's samples ------------------------------------------------- */

/* The child takes them until we are gone. */
static int sampler_begin(struct top *top)
{
	pid_t parent = getpid();
	struct cst_error err;

	top->lock = cst_folder_make("top", 0, top->folder, sizeof(top->folder),
				    &err);
	if (top->lock < 0) {
		*top->folder = '\0';
		return failure("%s", err.text);
	}
	snprintf(top->own_path, sizeof(top->own_path), "%s/top.cst",
		 top->folder);
	top->path = top->o.output = top->own_path;
	top->child = fork();
	if (top->child < 0)
		return failure("cannot fork: %s", strerror(errno));
	if (!top->child) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		_exit(getppid() == parent ? sample_process(&top->o, 1)
					  : STATUS_FAILED);
	}
	return STATUS_OK;
}

/* Notes whether the child has ended; it waits for that, or just looks. */
static void sampler_look(struct top *top, int options)
{
	int status;

	if (top->child <= 0 ||
	    waitpid(top->child, &status, options) != top->child)
		return;
	top->child = 0;
	top->child_status =
		WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED;
}

static void sampler_stop(struct top *top)
{
	if (top->child > 0)
		kill(top->child, SIGTERM);
	sampler_look(top, 0);
}

static void sampler_end(struct top *top)
{
	sampler_stop(top);
	if (*top->folder)
		cst_folder_remove(top->folder, top->lock);
}

/* ---- the command --------------------------------------------------------- */

/* How long to wait for the next picture, after one that took so long. */
static uint64_t pause_ns(const struct top *top, uint64_t drawn_ns)
{
	uint64_t least = drawn_ns * DRAWN_SHARE;

	return least > top->o.every_ns ? least : top->o.every_ns;
}

/* Without a screen one picture is drawn: of a process, a moment later. */
static int run(struct top *top)
{
	uint64_t begin = now_ns(), until = begin + top->o.sample_ns;
	int goes_on = 1, had_child;

	if (!top->is_screen && top->o.pid) {
		screen_wait(&top->screen, top->o.sample_ns ? top->o.sample_ns
							   : top->o.every_ns);
		sampler_stop(top);
	}
	do {
		had_child = top->child > 0;
		sampler_look(top, WNOHANG);
		if (top->child_status)
			return top->child_status;
		begin = now_ns();
		goes_on = draw(top);
		if (goes_on <= 0 || !top->is_screen ||
		    (top->o.sample_ns && now_ns() >= until) ||
		    (had_child && !top->child))
			break;
		screen_wait(&top->screen, pause_ns(top, now_ns() - begin));
	} while (!screen_is_over());
	return goes_on < 0 ? -goes_on : STATUS_OK;
}

static int check(struct top *top)
{
	struct cst_error err;

	if (cst_report_check(&top->o.report, &err) < 0)
		return usage_error(&command_top, "%s", err.text);
	if (top->o.every_ns < LEAST_NS)
		top->o.every_ns = LEAST_NS;
	if (top->o.pid && top->o.names[0] != trace_file_default)
		return usage_error(&command_top,
				   "either a trace or a process: '%s' or -p %d",
				   top->o.names[0], top->o.pid);
	if (top->o.pid)
		return sample_process_rate(&command_top, &top->o);
	if (top->o.sample_hz || top->o.is_wall || top->o.is_outside)
		return usage_error(&command_top,
				   "--hz, --wall and --outside are for -p PID: "
				   "a trace is as it is");
	return STATUS_OK;
}

static int top_run(int argc, char **argv)
{
	struct top top = {0};
	int go = options_parse(&command_top, argc, argv, 0, 1, &top.o), status;

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	status = check(&top);
	if (status)
		return status;
	top.path = top.o.names[0];
	screen_catch();
	if (top.o.pid)
		status = sampler_begin(&top);
	top.is_screen = !status && screen_begin(&top.screen);
	if (!status)
		status = run(&top);
	if (top.is_screen)
		screen_end();
	sampler_end(&top);
	return status ? status : top.child_status;
}

const struct command command_top = {
	.name = "top",
	.arguments = "[OPTION...] [FILE.cst]\n"
		     "       cstrace top [OPTION...] -p PID",
	.summary = "Watch where time goes while a program runs",
	.details =
		"The functions that took most lately, and the stack of each "
		"thread, the\ninnermost function first; drawn anew until q "
		"or Ctrl-C.  FILE is a trace that is\nbeing written, by "
		"`cstrace record --sample' in another terminal; -p takes\n"
		"samples of a process as `cstrace sample' does, and keeps "
		"none.  Where standard\noutput is no terminal, one picture is "
		"printed.\n",
	.examples = "top\n"
		    "top -p $(pidof server) --wall\n"
		    "top --sort total --recent 60s server.cst\n",
	.options = FOR_TOP,
	.takes = {TAKES_TRACE},
	.run = top_run,
};
