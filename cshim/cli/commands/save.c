/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace save`: writes a trace in another format, or packed
 * again.
 */
#include "command.h"
#include "options.h"
#include "trace_input.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static void tell_too_deep(const struct cst_trace *t)
{
	struct cst_status_report s;

	cst_trace_status(t, &s);
	if (s.n_too_deep)
		failure("%" PRIu64 " call%s left out: the format has no room "
			"for calls so deep",
			s.n_too_deep, s.n_too_deep == 1 ? " was" : "s were");
}

static int save_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *t;
	int is_stdout;
	int64_t n;
	int go = options_parse(&command_save, argc, argv, 2, 2, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	is_stdout = !strcmp(o.names[1], "-");
	if (is_stdout && !o.format)
		return usage_error(&command_save,
				   "'-' is standard output: say --format F");
	if (!is_stdout && !o.is_forced &&
	    cst_may_replace(o.names[1], o.format, &err) < 0)
		return trace_input_end(CST_EXISTS, &err);
	t = trace_input_open(o.names[0], &o);
	if (!t)
		return STATUS_FAILED;
	trace_input_choose(t, &o);
	trace_input_tell_losses(t);
	trace_input_announce(t, o.names[1], o.format, &o.choice);
	o.look.color = 0;
	if (cst_trace_mixes_threads(t, o.names[1], o.format, &o.look,
				    &o.choice))
		failure("without the threads' column (or --id) cstrace expect "
			"cannot read the tree: it has several threads");
	if (is_stdout)
		n = cst_trace_write(t, o.format, &o.look, &o.choice,
				    trace_input_write, NULL, &err);
	else
		n = cst_trace_save(t, o.names[1], o.format, &o.look, &o.choice,
				   &err);
	if (n == 0)
		trace_input_tell_none(t, &o, "calls");
	else if (n > 0)
		trace_input_tell_note(t, &o);
	tell_too_deep(t);
	trace_input_close(t);
	return trace_input_end(n, &err);
}

const struct command command_save = {
	.name = "save",
	.arguments = "[OPTION...] [FILE.cst] OUT",
	.summary = "Save a trace in another format",
	.details = "The ending of OUT says which:\n"
		   "  .txt         the tree as text\n"
		   "  .jsonl       a JSON object for each call\n"
		   "  .cst         the trace itself\n"
		   "  .html        a page for any browser: charts, tree, call "
		   "graph, report\n"
		   "  .json        Chrome trace events, for Perfetto\n"
		   "  .speedscope.json, .speedscope\n"
		   "               for speedscope\n"
		   "  .folded      stacks with their time, for flame graphs\n"
		   "  .callgrind   for KCachegrind and callgrind_annotate\n"
		   "  .dot         the graph of functions, for Graphviz\n"
		   "  .otlp.json, .otlp\n"
		   "               OpenTelemetry spans, best with --below or "
		   "--depth\n"
		   "  .ctf         a folder for babeltrace2 and Trace "
		   "Compass\n"
		   "  .uftrace     a folder for uftrace replay, report, "
		   "graph\n"
		   "OUT may be - for standard output, with --format.\n",
	.examples = "save cstrace.cst page.html\n"
		    "save --below 1.42 cstrace.cst part.json\n"
		    "save --format folded cstrace.cst - | flamegraph.pl "
		    ">flame.svg\n",
	.options = FOR_SAVE,
	.takes = {TAKES_TRACE, TAKES_FILE},
	.run = save_run,
};
