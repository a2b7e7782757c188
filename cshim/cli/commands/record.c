/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cstrace record and cstrace live: run a program with the shim in it and are
 * its reader.
 */
#include "bfd_names.h"
#include "check/preflight.h"
#include "attach/record_process.h"
#include "command.h"
#include "cstrace/layout.h"
#include "cstrace/samples.h"
#include "launch.h"
#include "losses.h"
#include "options.h"
#include "patching.h"
#include "record_core.h"
#include "recorder_setup.h"
#include "trace_file.h"
#include "trace_input.h"
#include "watch.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Chunks come back within a millisecond: few of them stay in the cache. */
enum { POOL_CHUNKS = 256 };

/* Without a file to keep it the trace is in one without a name. */
enum { MOST_UNKEPT = 1 << 30 };

struct record {
	const struct command *command_of;
	const struct options *o;
	struct launch launch;
	struct watch watch;
	struct patching patching;
	sigset_t blocked;
	int is_live;
	int is_kept;	 /* in a file of a name */
	int is_piped;	 /* to standard output, once it is whole */
	int is_reported; /* why there will be no calls */
	char *command;	 /* "./app 1 2" */
	char module[PATH_MAX];
};

/* ---- what is recorded -----------------------------------------------------
 */

static char *join(char **words)
{
	size_t size = 1;
	char *text;

	for (char **w = words; *w; w++)
		size += strlen(*w) + 1;
	text = calloc(1, size);
	for (char **w = words; text && *w; w++) {
		if (w != words)
			strcat(text, " ");
		strcat(text, *w);
	}
	return text;
}

static int recorder_make(struct record *r, struct cst_error *err)
{
	const struct recorder_setup setup = {
		.spool = r->is_kept ? r->o->output : "",
		.limit_bytes = r->is_kept || r->is_piped || r->o->max_bytes
				       ? r->o->max_bytes
				       : MOST_UNKEPT,
		.mode = CST_MODE_RING,
		.pool_chunks = POOL_CHUNKS,
		.command = r->command,
		.module = r->module,
		.naming = r->watch.naming,
		.wanted = watch_wanted,
		.arg = &r->watch,
	};
	const struct cst_values values = {
		.args = 1,
		.results = 1,
		.members = (uint32_t)r->o->has_members,
		.text_bytes = r->o->text_bytes,
		.functions = r->o->args_of,
		.plans = r->patching.folder,
	};
	int status = recorder_set_up(r->o, &setup, &r->watch.recorder, err);

	if (status == 0 && r->o->has_no_what)
		cst_recorder_what(r->watch.recorder, 0);
	/* Calls are chosen by their values: then these are wanted. */
	if (status == 0 && (r->o->has_args || values.members ||
			    values.text_bytes || r->o->choice.where))
		status = cst_recorder_values(r->watch.recorder, &values, err);
	if (status < 0)
		return status;
	status = cst_recorder_live(r->watch.recorder, r->is_live,
				   r->is_live ? CST_SINK_FD : CST_SINK_NONE,
				   r->is_live ? STDOUT_FILENO : -1, &r->o->look,
				   &r->o->choice, err);
	if (status == 0)
		cst_recorder_fill(r->watch.recorder);
	return status;
}

static int recorder_open(struct record *r)
{
	struct cst_error err;

	/* Before an old trace is replaced. */
	if (cst_choice_check(&r->o->choice, &err) < 0)
		return usage_error(r->command_of, "%s", err.text);
	return trace_input_end(recorder_make(r, &err), &err);
}

/* ---- the end --------------------------------------------------------------
 */

static const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

static void tell_losses(const struct cst_status_report *s)
{
	char text[80];

	for (uint32_t i = 0; cst_losses_text(&s->losses, i, text, sizeof(text));
	     i++)
		fprintf(stderr, "; %s", text);
	if (s->n_running)
		fprintf(stderr, "; %" PRIu32 " %s on, unrecorded", s->n_running,
			plural(s->n_running, "process runs", "processes run"));
}

/* Why there are none. */
static const char *no_samples(const struct record *r)
{
	if (!cst_recorder_sampled(r->watch.recorder))
		return "the program did not load libcstrace-sample.so (it is "
		       "static, or runs with another user's rights), or that "
		       "found no libunwind-x86_64.so.8 (package libunwind8)";
	return "it ran too briefly, or only waited: --sample=9999 and --wall "
	       "see more";
}

static void tell_nothing(const struct record *r)
{
	struct stat st;
	int is_other = stat(r->launch.program, &st) == 0 &&
		       (st.st_mode & (S_ISUID | S_ISGID));

	if (r->o->sample_hz)
		fprintf(stderr, "cstrace: no samples: %s\n", no_samples(r));
	else if (r->is_reported)
		fprintf(stderr,
			"cstrace: no calls: cstrace check %s tells more\n",
			r->launch.program);
	else if (is_other)
		fprintf(stderr,
			"cstrace: no calls: '%s' runs with another user's "
			"rights and cannot take libcstrace.so\n",
			r->o->names[0]);
	else
		fprintf(stderr,
			"cstrace: no calls: was '%s' compiled with "
			"-finstrument-functions?  cstrace check %s tells\n",
			r->o->names[0], r->launch.program);
}

/* The file's own size: a flight's spool has none of its names yet. */
static uint64_t n_bytes(const struct record *r,
			const struct cst_status_report *s)
{
	struct stat st;

	return r->is_kept && stat(r->o->output, &st) == 0 ? (uint64_t)st.st_size
							  : s->spool_bytes;
}

static void tell_end(const struct record *r, const struct cst_status_report *s)
{
	uint64_t all = s->n_calls + s->n_forgotten, size = n_bytes(r, s);
	int is_small = size < 1 << 20;

	if (!s->n_records && !s->losses.n_full && !s->n_samples) {
		tell_nothing(r);
		return;
	}
	fputs("cstrace: ", stderr);
	if (s->n_forgotten)
		fprintf(stderr, "the newest %" PRIu64 " of ", s->n_calls);
	/* A program may have no hooks, and speak by cstrace.h. */
	if (s->n_other && !all)
		fprintf(stderr, "%" PRIu64 " %s%s", s->n_other,
			plural(s->n_other, "row", "rows"),
			s->n_samples ? " and " : "");
	else if (all || !s->n_samples)
		fprintf(stderr, "%" PRIu64 " %s%s", all,
			plural(all, "call", "calls"),
			s->n_samples ? " and " : "");
	if (s->n_samples)
		fprintf(stderr, "%" PRIu64 " %s", s->n_samples,
			plural(s->n_samples, "sample", "samples"));
	fprintf(stderr, " in %" PRIu32 " %s", s->n_threads,
		plural(s->n_threads, "thread", "threads"));
	if (r->is_kept)
		fprintf(stderr, ", %.*f %s in %s", is_small ? 0 : 1,
			(double)size / (is_small ? 1 << 10 : 1 << 20),
			is_small ? "KiB" : "MiB", r->o->output);
	fprintf(stderr, ", %.3f s", (double)s->duration_ns / 1e9);
	tell_losses(s);
	fputc('\n', stderr);
}

/* The flight, at the user's signal. */
static void save(void *arg)
{
	struct record *r = arg;
	struct cst_error err;

	bfd_names_answer_all(r->watch.naming, r->watch.recorder);
	if (cst_recorder_save(r->watch.recorder, &err) < 0)
		recorder_tell(NULL, err.text);
}

/* All of the trace to standard output: its file is not written from its
 * beginning to its end, so that a pipe gets it only now. */
static int pipe_trace(struct cst_trace *t)
{
	const struct cst_choice all = {.std = 1};
	const struct cst_look look = {0};
	struct cst_error err;

	return trace_input_end(cst_trace_write(t, "cst", &look, &all,
					       trace_input_write, NULL, &err),
			       &err);
}

/* Completes the file.  Returns an exit code; a failure was reported. */
static int recorder_end(struct record *r)
{
	struct cst_status_report status, now;
	struct cst_trace *trace;
	struct cst_error err;
	int failed = 0;

	bfd_names_drain(r->watch.naming, r->watch.recorder);
	cst_recorder_status(r->watch.recorder, &now);
	if (cst_recorder_end(r->watch.recorder, &trace, &err) < 0)
		return failure("%s", err.text);
	cst_trace_status(trace, &status);
	if (status.n_calls)
		trace_input_tell_wrong(trace, r->o, r->module);
	if (r->is_piped)
		failed = pipe_trace(trace);
	cst_trace_free(trace);
	status.n_running = now.n_running;
	tell_end(r, &status);
	patching_tell(&r->patching, r->o->names[0]);
	losses_tell_untraced(&now.losses);
	return failed;
}

/* A shell would say so of a program that it ran itself, but for these two. */
static void tell_signal(const char *program, int wait_status)
{
	int signo = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;

	if (signo && signo != SIGINT && signo != SIGPIPE)
		failure("%s was ended by signal %d, %s", program, signo,
			strsignal(signo));
}

static int run(struct record *r)
{
	int status, wait_status;

	/* Nobody who wants samples needs hooks. */
	if (r->o->sample_hz)
		r->launch.samples =
			cst_recorder_samples_path(r->watch.recorder);
	else if (!r->patching.n_patches && r->o->patch != PATCH_ALWAYS)
		r->is_reported =
			preflight_tell(r->launch.program, r->o->names[0],
				       "--patch records it as it is");
	r->launch.plans = r->patching.folder;
	status = launch_start(&r->launch, r->o->names,
			      cst_recorder_area_path(r->watch.recorder),
			      &r->blocked, &r->watch.pid);
	if (status)
		return status;
	/* A reader of ours that has enough does not end the program. */
	if (r->is_live || r->is_piped)
		signal(SIGPIPE, SIG_IGN);
	wait_status = watch_run(&r->watch);
	cst_recorder_exited(r->watch.recorder);
	tell_signal(r->o->names[0], wait_status);
	status = recorder_end(r);
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	/* The program did well, but its trace is not there. */
	return WEXITSTATUS(wait_status) ? WEXITSTATUS(wait_status) : status;
}

/* Nobody who wants samples needs calls. */
static int is_patching(const struct record *r)
{
	return r->o->patch == PATCH_ALWAYS ||
	       (r->o->patch == PATCH_AS_NEEDED && !r->o->sample_hz);
}

/* Plans what has no hooks: each file for itself.  Where nothing of a program
 * with hooks is to be patched, nor is what it opens later. */
static int plan_all(struct record *r, enum preflight_hooks hooks)
{
	int status = patching_prepare(&r->patching, r->launch.program);

	if (hooks == PREFLIGHT_HOOKS && !r->patching.n_files &&
	    !r->o->has_border) {
		patching_release(&r->patching);
		r->watch.plans = -1;
	}
	return status;
}

static int prepare_patching(struct record *r)
{
	int is_asked_for = r->o->patch == PATCH_ALWAYS, status;
	enum preflight_hooks hooks = preflight_hooks(r->launch.program);
	char runs[32];
	const struct patching_wish wish = {
		.plan = {.functions = r->o->patch_of,
			 .min_size = r->o->keep_bytes},
		.modules = r->o->modules,
		.is_of_all = is_asked_for,
		.has_border = r->o->has_border,
		.has_hooks = !is_patching(r),
	};

	if (wish.has_hooks && !wish.has_border)
		return STATUS_OK;
	if (is_asked_for &&
	    preflight_interpreter(r->launch.program, runs, sizeof(runs)))
		return failure("'%s' is a script: name the program that runs "
			       "it, as in cstrace record --patch %s %s",
			       r->o->names[0], runs, r->o->names[0]);
	if (is_asked_for && preflight_is_static(r->launch.program))
		return failure("'%s' cannot be patched: it is static, "
			       "and " PREFLIGHT_NO_LOADER
			       "; " PREFLIGHT_STATIC_MEND,
			       r->o->names[0]);
	status = patching_open(&r->patching, &wish);
	if (status)
		return status;
	r->watch.plans = r->patching.wanted;
	r->watch.plan = patching_answer;
	r->watch.plans_arg = &r->patching;
	/* What it runs in turn may be patched all the same. */
	if (!wish.has_hooks && !is_asked_for &&
	    (hooks == PREFLIGHT_UNKNOWN || cst_is_launcher(r->launch.program)))
		return STATUS_OK;
	if (!wish.has_hooks)
		status = plan_all(r, hooks);
	if (status && is_asked_for)
		return status;
	return wish.has_border
		       ? patching_border(&r->patching, r->launch.program)
		       : STATUS_OK;
}

static int prepare(struct record *r)
{
	int status = launch_prepare(&r->launch, r->o->names[0],
				    r->o->sample_hz != 0);

	if (!status)
		status = prepare_patching(r);
	if (status)
		return status;
	r->launch.is_output_ours = r->is_piped;
	if (!realpath(r->launch.program, r->module))
		r->module[0] = '\0';
	r->command = join(r->o->names);
	r->watch.naming = bfd_names_new(recorder_tell, NULL);
	if (!r->command || !r->watch.naming)
		return failure("out of memory");
	r->watch.on_signal = r->o->on_signal;
	r->watch.save = save;
	r->watch.arg = r;
	status = watch_open(&r->watch, &r->blocked);
	return status ? status : recorder_open(r);
}

/* Refuses options for a program that is started. */
static int check_process_options(const struct record *r)
{
	const struct options *o = r->o;
	const char *other = r->is_piped		      ? "-o -"
			    : o->sample_hz	      ? "--sample"
			    : o->is_for_core	      ? "--core"
			    : o->flight_bytes	      ? "--flight"
			    : o->has_args	      ? "--args"
			    : o->choice.where	      ? "--where"
			    : o->patch == PATCH_NEVER ? "--hooks"
						      : NULL;

	if (o->n_names)
		return usage_error(r->command_of,
				   "-p is for a process that runs already: no "
				   "'%s' is started",
				   o->names[0]);
	if (other)
		return usage_error(r->command_of, "%s does not go with -p",
				   other);
	return STATUS_OK;
}

/* Refuses what only a reader beside the program could do. */
static int check_core_options(const struct record *r)
{
	const struct options *o = r->o;
	const char *other = o->output != trace_file_default ? "--output"
			    : o->on_signal		    ? "--on-signal"
			    : o->max_bytes		    ? "--max-size"
			    : o->keep_depth		    ? "--keep-depth"
			    : o->keep_ns		    ? "--keep-time"
			    : o->keep_bytes		    ? "--keep-size"
			    : o->args_of		    ? "--args=REGEX"
			    : o->has_members		    ? "--members"
			    : o->text_bytes		    ? "--text-bytes"
			    : o->choice.where		    ? "--where"
			    : o->patch != PATCH_AS_NEEDED   ? "--patch"
							    : NULL;

	if (!o->is_for_core)
		return STATUS_OK;
	if (!o->flight_bytes)
		return usage_error(r->command_of,
				   "--core is for --flight SIZE");
	if (o->has_border)
		other = "--border";
	if (other)
		return usage_error(r->command_of, "%s does not go with --core",
				   other);
	return STATUS_OK;
}

/* Refuses options that exclude each other.  Returns an exit code; a failure was
 * reported. */
static int check_options(struct record *r)
{
	if (r->is_piped && isatty(STDOUT_FILENO))
		return usage_error(r->command_of,
				   "a trace is nothing for a terminal: "
				   "cstrace record -o - ./app | cstrace show "
				   "-");
	if (r->o->is_wall && !r->o->sample_hz)
		return usage_error(r->command_of, "--wall is for --sample");
	if (r->o->pid)
		return check_process_options(r);
	if (r->o->sample_ns && !r->o->sample_hz)
		return usage_error(r->command_of,
				   "--for is for --sample and -p");
	if (r->o->sample_hz && r->o->flight_bytes)
		return usage_error(r->command_of,
				   "--sample does not go with --flight");
	if (r->is_piped && r->o->flight_bytes)
		return usage_error(r->command_of,
				   "--flight needs a file: say -o FILE");
	if (r->o->on_signal && !r->o->flight_bytes)
		return usage_error(r->command_of,
				   "--on-signal is for --flight SIZE");
	return check_core_options(r);
}

static int record(const struct command *c, int is_live, int argc, char **argv)
{
	struct options o;
	struct record r = {.o = &o,
			   .command_of = c,
			   .is_live = is_live,
			   .watch = {.signals = -1, .wanted = -1, .plans = -1}};
	int status, go = options_parse(c, argc, argv, 1, INT_MAX, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	r.is_piped = !is_live && !strcmp(o.output, "-");
	r.is_kept = !r.is_piped && !(is_live && o.output == trace_file_default);
	status = check_options(&r);
	if (o.pid && !status)
		return record_process(&o);
	if (!status && o.is_for_core) {
		status = launch_prepare(&r.launch, o.names[0], 0);
		if (!status)
			preflight_tell(r.launch.program, o.names[0],
				       "with --core nothing is patched");
		status = status ? status : record_core(&r.launch, &o);
		launch_release(&r.launch);
		return status;
	}
	if (!status)
		status = prepare(&r);
	if (!status)
		status = run(&r);
	cst_recorder_close(r.watch.recorder);
	bfd_names_free(r.watch.naming);
	watch_close(&r.watch);
	patching_release(&r.patching);
	launch_release(&r.launch);
	free(r.command);
	return status;
}

static int record_run(int argc, char **argv)
{
	return record(&command_record, 0, argc, argv);
}

static int live_run(int argc, char **argv)
{
	return record(&command_live, 1, argc, argv);
}

const struct command command_record = {
	.name = "record",
	.arguments = "[OPTION...] [--] ./app [ARG...]",
	.summary = "Run a program and record its calls, without gdb",
	.details = "The program, compiled with -finstrument-functions, runs as "
		   "it would alone; what\n"
		   "it forks or executes is recorded, too.\n"
		   "\n"
		   "With -o - the trace goes to standard output when the "
		   "program has ended, and what\n"
		   "the program writes there to standard error.\n"
		   "\n"
		   "With -p PID it is a process that runs already, without "
		   "hooks: its functions are\n"
		   "patched for that time, and put back.  Ctrl-C ends it.\n"
		   "\n"
		   "Exit status: the program's own, 128 and the signal's "
		   "number if one killed it;\n"
		   "with -p 0 or 1.\n",
	.examples = "record ./app 1 2\n"
		    "record -o run.cst --exclude log_ -- ./app --verbose\n"
		    "record -o - ./app | cstrace report -\n"
		    "record --flight 10M --on-signal USR2 ./server\n"
		    "record --flight 16M --core ./server\n"
		    "record -p $(pidof server) --for 10s\n",
	.options = FOR_RECORD,
	.takes = {TAKES_PROGRAM},
	.run = record_run,
};

const struct command command_live = {
	.name = "live",
	.arguments = "[OPTION...] [--] ./app [ARG...]",
	.summary = "Run a program and print its calls as they come",
	.details = "A row for each call, on standard output among what the "
		   "program writes there; a\n"
		   "call that is still open when its row is due has a second "
		   "one when it returns.\n"
		   "Without -o FILE the trace is not kept.\n"
		   "\n"
		   "Exit status: the program's own, 128 and the signal's "
		   "number if one killed it.\n",
	.examples = "live ./app 1 2\n"
		    "live --depth 3 --min-time 1ms ./server\n"
		    "live -o run.cst --filter '^parse_' ./app\n",
	.options = FOR_LIVE,
	.takes = {TAKES_PROGRAM},
	.run = live_run,
};
