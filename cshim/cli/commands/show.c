/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace show`: prints the calls of a trace as a tree of rows.
 */
#include "command.h"
#include "options.h"
#include "pager.h"
#include "trace_file.h"
#include "trace_input.h"
#include "trace_rows.h"

#include <stddef.h>
#include <unistd.h>

static int show_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *t;
	cst_write_fn write;
	int64_t n;
	int go = options_parse(&command_show, argc, argv, 1, 2, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	if (o.n_names == 2 && word_is_id(o.names[1]))
		o.choice.root = o.names[1];
	else if (o.n_names == 2)
		o.choice.filter = o.names[1];
	o.look.width = pager_width(o.no_pager);
	t = trace_rows_begin(&o);
	if (!t)
		return STATUS_FAILED;
	if (!isatty(STDOUT_FILENO)) /* else it comes page by page */
		trace_input_announce(t, "", "txt", &o.choice);
	write = o.no_pager ? trace_input_write : pager_write;
	n = cst_trace_show(t, &o.look, &o.choice, write, NULL, &err);
	return trace_rows_end(t, &o, n, write, "calls", &err);
}

const struct command command_show = {
	.name = "show",
	.arguments = "[OPTION...] [FILE.cst] [ID | REGEX]",
	.summary = "Show the recorded calls as a tree",
	.details = "Without FILE.cst, cstrace.cst is read; `cstrace FILE.cst' "
		   "alone shows it, too.\nWith ID (1.42, as rows have it), "
		   "only that call and what it calls; with REGEX,\nonly the "
		   "functions whose names match it, and what they call.\n\n"
		   "On a terminal the tree goes through CSTRACE_PAGER, PAGER "
		   "or less, which shows\nthe rest of long rows by the arrow "
		   "keys; without a pager rows are cut to\nits width.\n",
	.examples = "show cstrace.cst\n"
		    "show --depth 3 --timestamp off cstrace.cst\n"
		    "show cstrace.cst '^parse_'\n"
		    "show --around 1.42 cstrace.cst\n",
	.options = FOR_SHOW,
	.takes = {TAKES_TRACE},
	.run = show_run,
};
