/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command.h"
#include "options.h"
#include "reading.h"

#include <stddef.h>

static int exit_code(int64_t result, const struct options *o)
{
	if (result & CST_DIFFERS_IN_FLOW)
		return STATUS_FAILED;
	return result & CST_DIFFERS_IN_TIME && o->fail_on_time ? STATUS_FAILED
							       : STATUS_OK;
}

static int diff_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *a, *b;
	int64_t n = -1;
	int status;
	int go = options_parse(&command_diff, FOR_DIFF, argc, argv, 2, 2, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	if (o.fail_on_time && o.times < 0)
		return usage_error(&command_diff,
				   "--fail-on-time needs --times P: by how "
				   "much may they change?");
	a = reading_open(o.names[0]);
	b = a ? reading_open(o.names[1]) : NULL;
	if (!b) {
		reading_close(a);
		return STATUS_USAGE;
	}
	n = cst_trace_diff(a, b, &o.choice, o.limit, o.times, reading_write,
			   NULL, &err);
	reading_close(a);
	reading_close(b);
	status = reading_end(n, &err);
	if (status)
		return STATUS_USAGE;
	return n < 0 ? STATUS_OK : exit_code(n, &o);
}

const struct command command_diff = {
	.name = "diff",
	.arguments = "A.cst B.cst [OPTION...]",
	.summary = "Compare two traces of a program",
	.details =
		"First the call at which their flows part: `-' marks what only "
		"A has, `+' what\nonly B has, `~' a call with other calls "
		"below "
		"it.  Then a row for each place that\ncalls a function more or "
		"less often.\n\nFunctions are the same by name, their call "
		"sites by file and line, or by their order\nin the file where "
		"lines have moved; times and addresses do not count.\n\n"
		"Exit status: 0 the same flow, 1 another flow, 2 trouble.\n",
	.run = diff_run,
};
