/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace expect`: compares a trace with golden trees, or makes a
 * golden tree from it.
 */
#include "command.h"
#include "options.h"
#include "trace_input.h"

#include <stddef.h>

static int64_t expect_do(struct cst_trace *t, const struct options *o,
			 struct cst_error *err)
{
	const char *golden = o->n_names > 1 ? o->names[1] : NULL;

	if (o->make)
		return cst_trace_golden(t, golden, (uint32_t)o->is_forced,
					&o->choice, trace_input_write, NULL,
					err);
	return cst_trace_expect(t, golden, o->output_as, &o->choice,
				trace_input_write, NULL, err);
}

static int expect_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_trace *t;
	int64_t n;
	int go = options_parse(&command_expect, argc, argv, 1, 2, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	if (!o.make && o.n_names < 2)
		return usage_error(&command_expect,
				   "which golden tree?  --make writes one: "
				   "cstrace expect --make %s tree.golden",
				   o.names[0]);
	t = trace_input_open(o.names[0], &o);
	if (!t)
		return STATUS_USAGE;
	trace_input_tell_losses(t);
	n = expect_do(t, &o, &err);
	trace_input_close(t);
	if (trace_input_end(n, &err))
		return STATUS_USAGE;
	return n > 0 ? STATUS_FAILED : STATUS_OK;
}

const struct command command_expect = {
	.name = "expect",
	.arguments =
		"[OPTION...] [FILE.cst] GOLDEN\n"
		"       cstrace expect --make [OPTION...] [FILE.cst] [GOLDEN]",
	.summary = "Compare a trace with a golden tree of the calls to expect",
	.details =
		"A golden tree has a line for a call, and indented below it "
		"those that it makes,\nin order and no others:\n\n"
		"  main                # a comment\n"
		"    load  x2          a count: x3, x2..5, x2.., x* (any), x+ "
		"(some)\n"
		"    /^parse_/  x+     a regex; in a name * stands for any "
		"text\n"
		"    check  app.c:12   only when called from there; app.c: "
		"from "
		"that file\n"
		"    ...               any calls, or none\n"
		"    unordered:        those below in any order\n"
		"      open\n"
		"      stat\n"
		"    !abort            must not be called by main or below\n"
		"    save  (unwound)   it was left by longjmp or an exception; "
		"also (open)\n"
		"  thread 2:           what follows is thread 2's; 2:1, a name "
		"with *, or ?\n"
		"                      for one that no other line is about\n"
		"\nIt may begin with `options:' and below that, indented, "
		"depth N, filter REGEX,\nexclude REGEX, from WHERE, until "
		"WHERE, in FILE, module M, min-time T,\nrange A..B, thread N, "
		"where COND "
		"or std: only those calls are compared.\n--make writes "
		"there the options that it was given.\n"
		"\nExit status: 0 it matches, 1 it does not, 2 trouble.\n",
	.examples = "expect --make cstrace.cst app.golden\n"
		    "expect cstrace.cst app.golden\n",
	.options = FOR_EXPECT,
	.takes = {TAKES_TRACE, TAKES_FILE},
	.run = expect_run,
};
