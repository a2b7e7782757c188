/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace diff`: compares two traces by flow or by counts, and
 * says with its exit status whether they differ.
 */
#include "command.h"
#include "options.h"
#include "trace_input.h"

#include <stddef.h>

static int exit_code(int64_t result, const struct options *o)
{
	if (result & CST_DIFFERS_IN_FLOW)
		return STATUS_FAILED;
	return result & CST_DIFFERS_IN_TIME && o->fail_on_time ? STATUS_FAILED
							       : STATUS_OK;
}

/* People see the first rows, programs all. */
static uint32_t limit_of(const struct options *o)
{
	return o->is_limited || o->output_as ? o->limit : 20;
}

static int diff_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *a, *b;
	int64_t n = -1;
	int status;
	int go = options_parse(&command_diff, argc, argv, 2, 2, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	if (o.fail_on_time && o.times < 0)
		return usage_error(&command_diff,
				   "--fail-on-time needs --times P: by how "
				   "much may they change?");
	a = trace_input_open(o.names[0], &o);
	b = a ? trace_input_open(o.names[1], &o) : NULL;
	if (!b) {
		trace_input_close(a);
		return STATUS_USAGE;
	}
	trace_input_tell_losses(a);
	trace_input_tell_losses(b);
	n = cst_trace_diff(a, b,
			   &(struct cst_diff){.by = o.diff_by,
					      .limit = limit_of(&o),
					      .percent = o.times,
					      .output = o.output_as,
					      .sort = o.diff_sort,
					      .shows_percent = o.is_percent},
			   &o.choice, trace_input_write, NULL, &err);
	trace_input_close(a);
	trace_input_close(b);
	status = trace_input_end(n, &err);
	if (status)
		return STATUS_USAGE;
	return n < 0 ? STATUS_OK : exit_code(n, &o);
}

const struct command command_diff = {
	.name = "diff",
	.arguments = "[OPTION...] A.cst [B.cst]",
	.summary = "Compare two traces of a program",
	.details = "Without B.cst, cstrace.cst is B.\n\nFirst the call at "
		   "which their flows part: `-' marks what "
		   "only A has, `+' what\n"
		   "only B has, `~' a call with other calls below it.  Then a "
		   "row for each place\n"
		   "that calls a function more or less often.\n"
		   "\n"
		   "Functions are the same by name, their call sites by file "
		   "and line, or by their\n"
		   "order in the file where lines have moved; times and "
		   "addresses do not count.\n"
		   "\n"
		   "Where threads share work out among them, their flows are "
		   "others in each run:\n--counts leaves order and threads out "
		   "of account.\n"
		   "\n"
		   "Exit status: 0 the same flow, 1 another flow, 2 trouble.\n",
	.examples = "diff before.cst after.cst\n"
		    "diff --counts before.cst after.cst\n"
		    "diff --sort percent --percent before.cst after.cst\n"
		    "diff --times 20 --fail-on-time before.cst after.cst\n",
	.options = FOR_DIFF,
	.takes = {TAKES_TRACE, TAKES_TRACE},
	.run = diff_run,
};
