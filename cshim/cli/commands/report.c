/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace report`: prints a row for each function, place of call
 * or thread of a trace.
 */
#include "command.h"
#include "options.h"
#include "progress_line.h"
#include "trace_input.h"
#include "trace_rows.h"

#include <stddef.h>

static int report_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *t;
	int64_t n;
	int go = options_parse(&command_report, argc, argv, 1, 2, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	o.report.regex = o.n_names == 2 ? o.names[1] : NULL;
	if (cst_report_check(&o.report, &err) < 0)
		return usage_error(&command_report, "%s", err.text);
	t = trace_rows_begin(&o);
	if (!t)
		return STATUS_FAILED;
	o.report.limit = o.limit;
	o.report.output = o.output_as;
	o.report.regex = o.n_names == 2 ? o.names[1] : NULL;
	progress_line_begin();
	n = o.is_stacks ? cst_trace_stacks(t, &o.choice, 0, trace_input_write,
					   NULL, &err)
			: cst_trace_report(t, &o.report, &o.choice,
					   trace_input_write, NULL, &err);
	return trace_rows_end(t, &o, n, trace_input_write,
			      o.is_stacks ? "samples" : "functions", &err);
}

const struct command command_report = {
	.name = "report",
	.arguments = "[OPTION...] [FILE.cst] [REGEX]",
	.summary = "Sum the recorded calls up, a row for each function",
	.details =
		"With REGEX, only the rows of functions whose names match "
		"it.  TOTAL counts the\ntime of recursive calls once, SHARE "
		"is the part of all rows' SELF.\n"
		"Messages and counters have rows of their own below, but not "
		"in CSV.\n"
		"With --callers or --callees the rows sum up the calls from "
		"one function to\nanother, under the name of the one or of "
		"the other.\n",
	.examples = "report --limit 10\n"
		    "report --sort self,calls --fields self,calls,mean\n"
		    "report --by thread --fields total,calls\n"
		    "report --callers '^malloc_' cstrace.cst\n",
	.options = FOR_REPORT,
	.takes = {TAKES_TRACE},
	.run = report_run,
};
