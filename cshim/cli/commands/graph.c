/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace graph`: prints the folded call tree of a trace, or of
 * the functions that are named.
 */
#include "command.h"
#include "options.h"
#include "pager.h"
#include "progress_line.h"
#include "trace_input.h"
#include "trace_rows.h"

#include <stddef.h>

static int graph_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *t;
	int64_t n;
	cst_write_fn write;
	int go = options_parse(&command_graph, argc, argv, 1, 2, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	t = trace_rows_begin(&o);
	if (!t)
		return STATUS_FAILED;
	o.graph.limit = o.limit;
	o.graph.output = o.output_as;
	o.graph.function = o.n_names == 2 ? o.names[1] : NULL;
	write = o.output_as ? trace_input_write : pager_write;
	progress_line_begin();
	n = cst_trace_graph(t, &o.graph, &o.choice, write, NULL, &err);
	return trace_rows_end(t, &o, n, write,
			      o.graph.function ? "functions" : "calls", &err);
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
