/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace info`: prints what a trace file holds, how it was
 * recorded, and what it lacks.
 */
#include "command.h"
#include "options.h"
#include "trace_input.h"

#include <stddef.h>

static int info_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *t;
	int status;
	int go = options_parse(&command_info, argc, argv, 1, 1, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	t = trace_input_open(o.names[0], &o);
	if (!t)
		return STATUS_FAILED;
	status = cst_trace_info(t, o.output_as, trace_input_write, NULL, &err);
	trace_input_close(t);
	return trace_input_end(status, &err);
}

const struct command command_info = {
	.name = "info",
	.arguments = "[OPTION...] [FILE.cst]",
	.summary = "Say what a trace holds",
	.details = "The command that was recorded, how many calls, threads and "
		   "functions, what was\nlost, and which files the names are "
		   "from.\n",
	.examples = "info cstrace.cst\n",
	.options = FOR_INFO,
	.takes = {TAKES_TRACE},
	.run = info_run,
};
