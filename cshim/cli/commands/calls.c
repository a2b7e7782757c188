/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace calls`: prints a row for each call of a function.
 */
#include "command.h"
#include "options.h"
#include "pager.h"
#include "trace_input.h"

#include <stddef.h>

static int calls_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *t;
	cst_write_fn write;
	int64_t n;
	int status = STATUS_OK;
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
	t = trace_input_open(o.names[0], &o);
	if (!t)
		return STATUS_FAILED;
	trace_input_choose(t, &o);
	trace_input_tell_losses(t);
	o.calls.function = o.names[1];
	o.calls.limit = o.limit;
	o.calls.output = o.output_as;
	write = o.output_as || o.no_pager ? trace_input_write : pager_write;
	n = cst_trace_calls(t, &o.calls, &o.look, &o.choice, write, NULL, &err);
	if (n > 0 && !o.output_as)
		trace_input_note(t, &o, write);
	pager_end();
	if (n == 0)
		status = trace_input_tell_none(t, &o, "calls");
	trace_input_close(t);
	return n ? trace_input_end(n, &err) : status;
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
