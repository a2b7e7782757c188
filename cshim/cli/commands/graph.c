/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace graph`: prints the folded call tree of a trace, or of
 * the functions that are named.
 */
#include "command.h"
#include "options.h"
#include "pager.h"
#include "trace_input.h"

#include <stddef.h>

static int graph_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *t;
	int64_t n;
	int status = STATUS_OK;
	int go = options_parse(&command_graph, argc, argv, 1, 2, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	t = trace_input_open(o.names[0], &o);
	if (!t)
		return STATUS_FAILED;
	trace_input_choose(t, &o);
	trace_input_tell_losses(t);
	o.graph.limit = o.limit;
	o.graph.output = o.output_as;
	o.graph.function = o.n_names == 2 ? o.names[1] : NULL;
	n = cst_trace_graph(t, &o.graph, &o.choice,
			    o.output_as ? trace_input_write : pager_write, NULL,
			    &err);
	if (n > 0 && !o.output_as)
		trace_input_note(t, &o, pager_write);
	pager_end();
	if (n == 0)
		status = trace_input_tell_none(
			t, &o, o.graph.function ? "functions" : "calls");
	trace_input_close(t);
	return n ? trace_input_end(n, &err) : status;
}

const struct command command_graph = {
	.name = "graph",
	.arguments = "[OPTION...] [FILE.cst] [FUNCTION]",
	.summary = "Fold all recorded calls into one tree of functions",
	.details =
		"A row for each path of functions, over all threads: CALLS "
		"made on it, their\nTOTAL time, SELF without what they call, "
		"and SHARE, the part of the whole time\nthat TOTAL is.  "
		"Recursive calls are counted in the row of the function "
		"above.\n\n"
		"With FUNCTION (a regex) two trees, merged over all places "
		"where it is called:\nits callers, each below the function "
		"that it calls, with FUNCTION's calls and\ntimes that come "
		"from there; and what FUNCTION calls.\n",
	.examples = "graph cstrace.cst\n"
		    "graph --min-share 1 --depth 8 cstrace.cst\n"
		    "graph cstrace.cst '^malloc_'\n",
	.options = FOR_GRAPH,
	.takes = {TAKES_TRACE},
	.run = graph_run,
};
