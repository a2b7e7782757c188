/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command.h"
#include "options.h"
#include "reading.h"

#include <stddef.h>

static int report_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *t;
	int64_t n;
	int go = options_parse(&command_report, FOR_REPORT, argc, argv, 1, 2,
			       &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	t = reading_open(o.names[0]);
	if (!t)
		return STATUS_FAILED;
	n = cst_trace_report(t, o.sort, o.limit,
			     o.n_names == 2 ? o.names[1] : NULL, &o.choice,
			     reading_write, NULL, &err);
	reading_close(t);
	return reading_end(n, &err);
}

const struct command command_report = {
	.name = "report",
	.arguments = "FILE.cst [OPTION...] [REGEX]",
	.summary = "Sum the recorded calls up, a row for each function",
	.details = "With REGEX, only the functions whose names match it.\n",
	.run = report_run,
};
