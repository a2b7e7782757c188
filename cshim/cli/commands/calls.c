/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace calls`: prints a row for each call of a function.
 */
#include "command.h"
#include "options.h"
#include "pager.h"
#include "progress_line.h"
#include "trace_input.h"
#include "trace_rows.h"

#include <stddef.h>

static int calls_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *t;
	cst_write_fn write;
	int64_t n;
	int go = options_parse(&command_calls, argc, argv, 1, 2, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	if (o.n_names < 2)
		return usage_error(&command_calls, "which function?  As in: "
						   "cstrace calls parse");
	if (o.calls.under && (o.choice.filter || o.choice.root))
		return usage_error(&command_calls,
				   "--under takes the place of --filter and "
				   "--below: give one of them");
	o.look.width = pager_width(o.no_pager);
	t = trace_rows_begin(&o);
	if (!t)
		return STATUS_FAILED;
	o.calls.function = o.names[1];
	o.calls.limit = o.limit;
	o.calls.output = o.output_as;
	write = o.output_as || o.no_pager ? trace_input_write : pager_write;
	progress_line_begin();
	n = cst_trace_calls(t, &o.calls, &o.look, &o.choice, write, NULL, &err);
	return trace_rows_end(t, &o, n, write, "calls", &err);
}

const struct command command_calls = {
	.name = "calls",
	.arguments = "[OPTION...] [FILE.cst] FUNCTION",
	.summary = "List the calls of a function, a row for each",
	.details = "A row has the call's time, duration, ID and values, its "
		   "caller and the line\nthat it was called from.  FUNCTION "
		   "is a name or a regex, as in `cstrace show'.\n",
	.examples = "calls parse\n"
		    "calls --sort duration --limit 10 cstrace.cst parse\n"
		    "calls --under main --thread 2 '/^parse_/'\n"
		    "calls --format csv cstrace.cst parse\n",
	.options = FOR_CALLS,
	.takes = {TAKES_TRACE},
	.run = calls_run,
};
