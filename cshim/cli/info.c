/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command.h"
#include "options.h"
#include "reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_duration(uint64_t ns)
{
	if (ns < 1000000)
		printf("duration    %.3f us\n", (double)ns / 1e3);
	else if (ns < 1000000000)
		printf("duration    %.3f ms\n", (double)ns / 1e6);
	else
		printf("duration    %.3f s\n", (double)ns / 1e9);
}

static void print_losses(const struct cst_status_report *s)
{
	uint64_t n = s->n_lost_full + s->n_lost_sites + s->n_lost_threads +
		     s->n_lost_holes;

	printf("lost        %" PRIu64 " records", n);
	if (s->n_lost_limit)
		printf(", and %" PRIu64 " calls past the size limit",
		       s->n_lost_limit);
	printf("\n");
}

/* What is the traced program's: no escape codes from there. */
static void print_escaped(const char *text)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			printf("\\x%02x", (unsigned char)*p);
		else
			putchar(*p);
}

static void print_command(const char *command)
{
	printf("command     ");
	print_escaped(command);
	printf("\n");
}

/* A file that is mapped in pieces, or in several programs, once. */
static int is_told(const struct cst_trace *t, uint32_t i,
		   const struct cst_module *m)
{
	struct cst_module other;

	while (i-- && cst_trace_module(t, i, &other))
		if (!strcmp(m->path, other.path) &&
		    !strcmp(m->build_id, other.build_id))
			return 1;
	return 0;
}

/* Nothing is said of files that are not here: the trace may be from another
 * machine. */
static int is_changed(const struct cst_module *m)
{
	char now[CST_BUILD_ID_SIZE];

	return *m->build_id && cst_build_id(m->path, now) &&
	       strcmp(m->build_id, now);
}

static void print_modules(const struct cst_trace *t)
{
	struct cst_module m;

	for (uint32_t i = 0; cst_trace_module(t, i, &m); i++) {
		if (is_told(t, i, &m))
			continue;
		printf("module      ");
		print_escaped(m.path);
		if (*m.build_id)
			printf(", build-id %s", m.build_id);
		if (is_changed(&m))
			printf(" (the file there now is another)");
		printf("\n");
	}
}

static void print_status(struct cst_trace *t)
{
	struct cst_status_report s;

	cst_trace_status(t, &s);
	if (cst_trace_command(t) && *cst_trace_command(t))
		print_command(cst_trace_command(t));
	printf("calls       %" PRIu64 " (%" PRIu64 " open, %" PRIu64
	       " unwound, %" PRIu64 " from before the trace)\n",
	       s.n_calls, s.n_open, s.n_unwound, s.n_seeds);
	print_duration(s.duration_ns);
	printf("threads     %" PRIu32 " in %" PRIu32 " process%s\n",
	       s.n_threads, s.n_processes, s.n_processes == 1 ? "" : "es");
	printf("functions   %" PRIu32 ", called from %" PRIu32 " places\n",
	       s.n_functions, s.n_sites);
	print_losses(&s);
	printf("size        %.1f KiB\n", (double)s.spool_bytes / 1024);
	print_modules(t);
}

static int info_run(int argc, char **argv)
{
	struct options o;
	struct cst_trace *t;
	int go = options_parse(&command_info, argc, argv, 1, 1, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	t = reading_open(o.names[0]);
	if (!t)
		return STATUS_FAILED;
	print_status(t);
	reading_close(t);
	return STATUS_OK;
}

const struct command command_info = {
	.name = "info",
	.arguments = "[OPTION...] FILE.cst",
	.summary = "Say what a trace holds",
	.details = "The command that was recorded, how many calls, threads and "
		   "functions, what was\nlost, and which files the names are "
		   "from.\n",
	.examples = "info cstrace.cst\n",
	.options = FOR_INFO,
	.takes = {TAKES_TRACE},
	.run = info_run,
};
