/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Before and after the rows of a command that prints some: the trace, the
 * notes, the pager and the exit code.
 */
#include "trace_rows.h"

#include "pager.h"
#include "progress_line.h"
#include "trace_input.h"

#include <stddef.h>

struct cst_trace *trace_rows_begin(struct options *o)
{
	struct cst_trace *t = trace_input_open(o->names[0], o);

	if (!t)
		return NULL;
	trace_input_choose(t, o);
	trace_input_tell_losses(t);
	return t;
}

int trace_rows_end(struct cst_trace *t, const struct options *o, int64_t n,
		   cst_write_fn write, const char *what,
		   const struct cst_error *err)
{
	int status;

	progress_line_end();
	if (n > 0 && !o->output_as)
		trace_input_note(t, o, write);
	pager_end();
	status = n ? 0 : trace_input_tell_none(t, o, what);
	trace_input_close(t);
	return n ? trace_input_end(n, err) : status;
}
