/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace list`: prints the source where a call was made, and that
 * of the function.
 */
#include "command.h"
#include "options.h"
#include "trace_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_LINES = 10, N_BEFORE = 5 }; /* as gdb's `list` */

/* Prints ten lines from the first on, each with its number.  Returns 0, or -1
 * if the file cannot be read. */
static int print_lines(const char *path, uint32_t first)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t n;

	if (!f)
		return -1;
	for (uint32_t i = 1; i < first + N_LINES; i++) {
		n = getline(&text, &size, f);
		if (n < 0)
			break;
		if (n && text[n - 1] == '\n')
			text[n - 1] = '\0';
		if (i >= first)
			printf("%u\t%s\n", i, text);
	}
	free(text);
	fclose(f);
	return 0;
}

/* Prints "WHAT FILE:LINE" and the lines from n_before lines before it on. */
static int print_place(const char *name, const char *what, const char *file,
		       uint32_t line, uint32_t n_before)
{
	uint32_t first = line > n_before ? line - n_before : 1;

	printf("%s %s %s:%u\n", name, what, file, line);
	if (print_lines(file, first) == 0)
		return STATUS_OK;
	fflush(stdout);
	return failure("cannot read '%s': %s", file, strerror(errno));
}

static int print_call(const struct cst_call *call, const struct cst_source *s)
{
	if (*s->call_file && s->call_line)
		return print_place(call->name,
				   call->is_exception ? "is at"
						      : "was called at",
				   s->call_file, s->call_line, N_BEFORE);
	return failure("nothing tells where %s %s", call->name,
		       call->is_exception ? "is" : "was called");
}

static int print_function(const struct cst_call *call,
			  const struct cst_source *s)
{
	if (*s->own_file && s->own_line)
		return print_place(call->name, "is at", s->own_file,
				   s->own_line, 1);
	return failure("no debug information tells where %s is", call->name);
}

static int list_run(int argc, char **argv)
{
	struct options o;
	struct cst_error err;
	struct cst_source source;
	struct cst_call call;
	struct cst_trace *t;
	int status, go = options_parse(&command_list, argc, argv, 1, 2, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	if (o.n_names < 2)
		return usage_error(&command_list, "which call?  As in: cstrace "
						  "list 1.42");
	t = trace_input_open(o.names[0], &o);
	if (!t)
		return STATUS_FAILED;
	status = cst_trace_call(t, o.names[1], &call, &err);
	if (status == 0)
		status = cst_trace_source(t, o.names[1], o.debug_dirs,
					  o.n_debug_dirs, &source, &err);
	if (status < 0) {
		trace_input_close(t);
		return trace_input_end(status, &err);
	}
	status = print_call(&call, &source);
	if (!call.is_exception)
		status |= print_function(&call, &source);
	trace_input_close(t);
	return status;
}

const struct command command_list = {
	.name = "list",
	.arguments = "[OPTION...] [FILE.cst] ID",
	.summary = "Show the source of a call, and of its function",
	.details = "ID is a call's number as rows have it (1.42).  Ten lines "
		   "around the place where\nit was made, and ten where its "
		   "function is written, which the debug\ninformation of the "
		   "program says.  Where an exception is thrown or caught "
		   "there\nis one place.\n",
	.examples = "list 1.42\n"
		    "list run.cst 2.7\n",
	.options = FOR_LIST,
	.takes = {TAKES_TRACE},
	.run = list_run,
};
