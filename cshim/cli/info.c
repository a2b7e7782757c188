/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command.h"
#include "options.h"
#include "reading.h"

#include <inttypes.h>
#include <stdio.h>

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

/* The command line is the traced program's: no escape codes from there. */
static void print_command(const char *command)
{
	printf("command     ");
	for (const char *p = command; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			printf("\\x%02x", (unsigned char)*p);
		else
			putchar(*p);
	printf("\n");
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
}

static int info_run(int argc, char **argv)
{
	struct options o;
	struct cst_trace *t;
	int go = options_parse(&command_info, FOR_INFO, argc, argv, 1, 1, &o);

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
	.arguments = "FILE.cst",
	.summary = "Say what a trace holds",
	.details = "",
	.run = info_run,
};
