/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plans while the process runs, attaches, is its reader, and detaches.
 */
#include "attach/record_process.h"
#include "attach/attach.h"
#include "bfd_names.h"
#include "cstrace/layout.h"
#include "patching.h"
#include "process_names.h"
#include "recorder_setup.h"
#include "tell.h"
#include "trace_input.h"

#include <errno.h>
#include <limits.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { POOL_CHUNKS = 256, TICK_MS = 100 };

struct recording {
	const struct options *o;
	struct cst_recorder *recorder;
	struct bfd_names *naming;
	struct patching patching;
	struct attach attach;
	char area_path[64]; /* the recorder's, for the process */
	int wanted;	    /* descriptor: the recorder has questions */
	int process;	    /* descriptor of the process */
	struct process_names names;
	/* What the process has loaded, as far as it is recorded, and a sum of
	 * what it had loaded at the last look. */
	struct remote_modules modules;
	struct maps maps;
	uint64_t code_sum;
	/* A file that came since, and is planned; "": none. */
	char more[NAME_MAX + 1];
	char why[PATH_MAX]; /* it is not recorded so far */
};

static volatile int is_over;

static void end(int number)
{
	(void)number;
	is_over = 1;
}

static void wanted(void *arg)
{
	const struct recording *r = arg;
	uint64_t one = 1;

	if (write(r->wanted, &one, sizeof(one)) < 0)
		return; /* it is full of them already */
}

static int recorder_make(struct recording *r, struct cst_error *err)
{
	const struct recorder_setup setup = {
		.spool = r->o->output,
		.limit_bytes = r->o->max_bytes,
		.mode = CST_MODE_RING,
		.pool_chunks = POOL_CHUNKS,
		.command = r->names.command,
		.module = r->names.module,
		.naming = r->naming,
		.wanted = wanted,
		.arg = r,
	};
	int status = recorder_set_up(r->o, &setup, &r->recorder, err);

	if (status < 0)
		return status;
	status = cst_recorder_live(r->recorder, 0, CST_SINK_NONE, -1,
				   &r->o->look, &r->o->choice, err);
	if (status == 0)
		cst_recorder_fill(r->recorder);
	return status;
}

/* ---- what is patched -------------------------------------------------------
 */

static int is_to_be_planned(const struct remote_module *m)
{
	return m->kind == MODULE_OWN || m->kind == MODULE_ALLOCATOR;
}

/* What is planned already keeps its plan.  Those whose functions jump to
 * others' come first: they mostly lie above these. */
static int plan_border(struct recording *r, const struct remote_modules *m)
{
	const char **paths = calloc(m->n + 1ull, sizeof(*paths));
	uint32_t n = 0;
	int status;

	if (!paths)
		return failure("out of memory");
	for (uint32_t i = m->n; i-- > 0;)
		if (m->all[i].kind == MODULE_LIBC ||
		    is_to_be_planned(&m->all[i]))
			paths[n++] = m->all[i].path;
	status = patching_add_border(&r->patching, paths, n);
	free(paths);
	return status;
}

/* Plans one file.  Counts in *n_hooked those that have hooks. */
static int plan_one(struct recording *r, const struct remote_module *one,
		    int *n_hooked)
{
	int status = STATUS_OK;

	if (!is_to_be_planned(one))
		return STATUS_OK;
	if (cst_hook_slots(one->path, NULL, 0) > 0) {
		++*n_hooked;
		if (r->o->has_border)
			status = patching_add_caller(&r->patching, one->path);
		if (r->o->patch != PATCH_ALWAYS || status != STATUS_OK)
			return status; /* its hooks are used */
	}
	return patching_add(&r->patching, one->path, one->is_program);
}

static int plan(struct recording *r, const struct remote_modules *m)
{
	const struct patching_wish wish = {
		.plan = {.functions = r->o->patch_of,
			 .min_size = r->o->keep_bytes},
		.modules = r->o->modules,
		.has_border = r->o->has_border,
	};
	int status = patching_open(&r->patching, &wish), n_hooked = 0;

	if (status == STATUS_OK)
		patching_answer_no_more(&r->patching);
	for (uint32_t i = 0; i < m->n && status == STATUS_OK; i++)
		status = plan_one(r, &m->all[i], &n_hooked);
	if (status == STATUS_OK && r->patching.n_callers)
		status = plan_border(r, m);
	if (status == STATUS_OK && !r->patching.n_patches && !n_hooked)
		return failure("cannot record process %d: no function of it "
			       "can be patched, and it has no hooks",
			       r->o->pid);
	return status;
}

/* All that takes time comes before the process is touched. */
static int prepare(struct recording *r)
{
	struct cst_error err;
	int status;

	if (kill(r->o->pid, 0) < 0 && errno == ESRCH)
		return failure("there is no process %d", r->o->pid);
	r->process = (int)syscall(SYS_pidfd_open, r->o->pid, 0);
	r->wanted = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->naming = bfd_names_new(recorder_tell, NULL);
	if (r->process < 0 || r->wanted < 0 || !r->naming)
		return failure("cannot watch process %d: %s", r->o->pid,
			       strerror(errno));
	process_names_read(&r->names, r->o->pid);
	status = attach_modules(&r->modules, r->o->pid);
	if (status == STATUS_OK)
		status = plan(r, &r->modules);
	if (status == STATUS_OK)
		status = trace_input_end(recorder_make(r, &err), &err);
	return status;
}

/* ---- while it runs ---------------------------------------------------------
 */

/* A sum over the files whose code is mapped, and where. */
static uint64_t code_sum(struct recording *r)
{
	struct mapping one;
	uint64_t sum = 0, at = 0;

	if (maps_read(&r->maps, (uint32_t)r->o->pid, NULL) < 0)
		return r->code_sum; /* it is ending */
	while (maps_next(&r->maps, &at, &one))
		sum = (sum ^ one.start ^ one.inode) * 0x100000001b3u;
	return sum;
}

static int is_loaded(const struct remote_modules *m,
		     const struct remote_module *one)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->all[i].bias == one->bias &&
		    !strcmp(m->all[i].path, one->path))
			return 1;
	return 0;
}

/* Plans what has come, and notes the name of a file of it that is to be
 * recorded. */
static void plan_more(struct recording *r, const struct remote_modules *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		int n_hooked = 0;

		if (is_loaded(&r->modules, &m->all[i]) ||
		    plan_one(r, &m->all[i], &n_hooked) != STATUS_OK)
			continue;
		if (n_hooked || patching_has(&r->patching, m->all[i].path))
			snprintf(r->more, sizeof(r->more), "%s",
				 strrchr(m->all[i].path, '/') + 1);
	}
}

/* Records the functions of a library that was opened since, too.  What was
 * called of it before is not seen. */
static void look_for_more(struct recording *r)
{
	uint64_t sum = code_sum(r);
	struct remote_modules m;
	struct cst_error err;

	if (sum == r->code_sum && !*r->more)
		return;
	if (remote_modules_init(&m, r->o->pid, &err) < 0) {
		remote_modules_release(&m);
		return;
	}
	if (sum != r->code_sum) {
		plan_more(r, &m);
		cst_folder_share(r->patching.folder, (uint32_t)r->o->pid);
	}
	r->code_sum = sum;
	if (*r->more && attach_more(&r->attach, &m, r->area_path,
				    r->patching.folder, r->why)) {
		fprintf(stderr,
			"cstrace: recording %s, too, which was loaded "
			"meanwhile\n",
			r->more);
		*r->more = '\0'; /* else it is tried again */
	}
	remote_modules_release(&r->modules);
	r->modules = m;
}

static void watch(struct recording *r)
{
	struct pollfd fds[] = {{.fd = r->wanted, .events = POLLIN},
			       {.fd = r->process, .events = POLLIN}};
	uint64_t until = tracee_now_ns() + r->o->sample_ns, n;

	while (!is_over && !fds[1].revents &&
	       (!r->o->sample_ns || tracee_now_ns() < until)) {
		uint64_t left = (until - tracee_now_ns()) / 1000000 + 1;

		poll(fds, 2,
		     r->o->sample_ns && left < TICK_MS ? (int)left : TICK_MS);
		if (read(r->wanted, &n, sizeof(n)) == sizeof(n))
			bfd_names_answer_all(r->naming, r->recorder);
		look_for_more(r);
	}
}

static void tell_pause(const struct recording *r)
{
	const struct tracee *t = &r->attach.tracee;

	fprintf(stderr, "; process %d stood still for at most %.1f ms",
		r->o->pid, (double)t->longest_ns / 1e6);
	if (t->longest_some_ns > t->longest_ns)
		fprintf(stderr, ", a thread of it for %.1f ms",
			(double)t->longest_some_ns / 1e6);
	fputc('\n', stderr);
}

static void tell_end(struct recording *r, const struct cst_status_report *s)
{
	int is_small = s->spool_bytes < 1 << 20;
	char text[80];

	fprintf(stderr, "cstrace: %" PRIu64 " %s in %" PRIu32 " %s", s->n_calls,
		s->n_calls == 1 ? "call" : "calls", s->n_threads,
		s->n_threads == 1 ? "thread" : "threads");
	fprintf(stderr, ", %.*f %s in %s, %.3f s", is_small ? 0 : 1,
		(double)s->spool_bytes / (is_small ? 1 << 10 : 1 << 20),
		is_small ? "KiB" : "MiB", r->o->output,
		(double)s->duration_ns / 1e9);
	for (uint32_t i = 0; cst_losses_text(&s->losses, i, text, sizeof(text));
	     i++)
		fprintf(stderr, "; %s", text);
	tell_pause(r);
	if (*r->more)
		fprintf(stderr,
			"cstrace: %s, which was loaded meanwhile, is not "
			"recorded: %s\n",
			r->more, r->why);
	patching_tell(&r->patching, r->names.module);
	if (r->attach.code.n_left)
		fprintf(stderr,
			"cstrace: %u %s left out: a thread stood in the bytes "
			"that would change\n",
			r->attach.code.n_left,
			r->attach.code.n_left == 1 ? "function was"
						   : "functions were");
}

static int finish(struct recording *r)
{
	struct cst_status_report status;
	struct cst_trace *trace;
	struct cst_error err;

	bfd_names_drain(r->naming, r->recorder);
	if (cst_recorder_end(r->recorder, &trace, &err) < 0)
		return failure("%s", err.text);
	cst_trace_status(trace, &status);
	cst_trace_free(trace);
	tell_end(r, &status);
	return STATUS_OK;
}

static int run(struct recording *r)
{
	struct cst_error err;
	int status;

	if (cst_recorder_area_path_for(r->recorder, (uint32_t)r->o->pid,
				       r->area_path, sizeof(r->area_path),
				       &err) < 0)
		return failure("%s", err.text);
	cst_folder_share(r->patching.folder, (uint32_t)r->o->pid);
	status = attach_begin(&r->attach, r->o->pid, r->area_path,
			      r->patching.folder);

	if (status == STATUS_OK) {
		fprintf(stderr, "cstrace: recording process %d%s\n", r->o->pid,
			r->o->sample_ns ? "" : ": Ctrl-C ends it");
		watch(r);
	}
	attach_undo(&r->attach);
	cst_recorder_exited(r->recorder);
	return status == STATUS_OK ? finish(r) : status;
}

int record_process(const struct options *o)
{
	struct recording r = {
		.o = o,
		.wanted = -1,
		.process = -1,
		.patching = {.wanted = -1},
		.attach = {.tracee.memory = -1, .is_cancelled = &is_over}};
	const struct sigaction action = {.sa_handler = end};
	int status;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	status = prepare(&r);
	if (status == STATUS_OK)
		status = run(&r);
	attach_end(&r.attach);
	cst_recorder_close(r.recorder);
	bfd_names_free(r.naming);
	patching_release(&r.patching);
	remote_modules_release(&r.modules);
	maps_release(&r.maps);
	if (r.wanted >= 0)
		close(r.wanted);
	if (r.process >= 0)
		close(r.process);
	return status;
}
