/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Opens the trace of a command that reads one, writes its output and notes, and
 * ends it well when the user interrupts it.
 */
#include "trace_input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tell.h"
#include "input.h"
#include "losses.h"
#include "progress_line.h"
#include "trace_file.h"

static volatile sig_atomic_t is_interrupted;
static int write_errno;

static void interrupt(int signo)
{
	(void)signo;
	is_interrupted = 1;
	cst_interrupt();
}

/* What a line of ours may have. */
enum { NOTE_MAX = 4200 };

/* The reader of a pipe is not to be woken for each 64 KiB: a quarter of the
 * time, where gigabytes go out. */
enum { PIPE_BYTES = 1 << 20 };

static void tell_nameless(void *arg, const char *text)
{
	const struct options *o = arg;

	failure("%s%s", text,
		o->n_debug_dirs ? "" : "; --debug-dir says where to look");
}

static int can_look_there(const struct options *o)
{
	for (int i = 0; i < o->n_debug_dirs; i++)
		if (access(o->debug_dirs[i], R_OK)) {
			failure("cannot read '%s': %s", o->debug_dirs[i],
				strerror(errno));
			return 0;
		}
	return 1;
}

struct cst_trace *trace_input_open(const char *path, const struct options *o)
{
	/* The second Ctrl-C ends us wherever we are. */
	struct sigaction on_interrupt = {.sa_handler = interrupt,
					 .sa_flags = (int)SA_RESETHAND};
	struct cst_error err;
	struct cst_trace *t;

	/* A reader that had enough (head, less) is no failure of ours, and a
	 * signal would leave save's temporary file behind. */
	signal(SIGPIPE, SIG_IGN);
	fcntl(STDOUT_FILENO, F_SETPIPE_SZ, PIPE_BYTES); /* if it is one */
	sigaction(SIGINT, &on_interrupt, NULL);
	if (path == trace_file_default && access(path, F_OK) &&
	    errno == ENOENT) {
		failure("there is no %s here: cstrace record ./app makes it, "
			"or name a trace",
			path);
		return NULL;
	}
	path = can_look_there(o) ? input_path(path) : NULL;
	if (!path)
		return NULL;
	if (cst_trace_load(path, &t, &err) < 0) {
		failure("%s", err.text);
		return NULL;
	}
	if (!cst_trace_is_complete(t))
		failure("'%s' was cut short, or is being written: what is "
			"complete is read",
			path);
	cst_trace_rename(t, o->debug_dirs, o->n_debug_dirs, tell_nameless,
			 (void *)o);
	return t;
}

void trace_input_tell_losses(const struct cst_trace *t)
{
	struct cst_status_report s;

	cst_trace_status(t, &s);
	losses_tell(&s.losses);
}

void trace_input_choose(const struct cst_trace *t, struct options *o)
{
	struct cst_choice asked = o->choice;

	if (!o->is_all)
		cst_trace_choice(t, &o->choice);
	o->is_chosen = asked.filter != o->choice.filter ||
		       asked.depth != o->choice.depth ||
		       asked.min_ns != o->choice.min_ns ||
		       asked.from != o->choice.from ||
		       asked.until != o->choice.until ||
		       asked.file != o->choice.file ||
		       asked.module != o->choice.module;
}

static int note(const struct cst_trace *t, const struct options *o, char *out,
		uint32_t size)
{
	return cst_trace_note(t, &o->choice, CST_WORDS_COMMAND, o->is_chosen,
			      out, size);
}

/* Writes a note on a word that means no function of the trace.  Returns its
 * length; 0: the word means one, or there is no word. */
static int wrong_text(const struct cst_trace *t, const struct options *o,
		      const char *word, char *out, uint32_t size)
{
	enum cst_names names = (enum cst_names)o->choice.names;
	uint32_t n_inlined;
	char near[512];
	int n;

	if (!word || (word[0] >= '0' && word[0] <= '9') ||
	    cst_trace_has_function(t, word, names, near, sizeof(near)))
		return 0;
	n_inlined = cst_trace_inlined(t, word, names);
	if (n_inlined)
		n = snprintf(out, size,
			     "no function matches '%.2000s': it was inlined in "
			     "%u %s",
			     word, n_inlined,
			     n_inlined == 1 ? "place" : "places");
	else
		n = snprintf(out, size,
			     *near ? "no function matches '%.2000s': did you "
				     "mean %s?"
				   : "no function matches '%.2000s'%s",
			     word, near);
	return n < (int)size ? n : (int)size - 1;
}

/* Says so. */
static int is_wrong(const struct cst_trace *t, const struct options *o,
		    const char *word)
{
	char text[NOTE_MAX];

	if (!wrong_text(t, o, word, text, sizeof(text)))
		return 0;
	failure("%s", text);
	return 1;
}

/* Says that no function of the trace is in this file or module, unless one
 * is. */
static int is_elsewhere(const struct cst_trace *t, const char *word,
			const char *what,
			int (*has)(const struct cst_trace *, const char *,
				   char *, uint32_t))
{
	char near[512];

	if (!word || has(t, word, near, sizeof(near)))
		return 0;
	if (*near)
		failure("no function of the trace is %s '%.2000s': did you "
			"mean %s?",
			what, word, near);
	else
		failure("no function of the trace is %s '%.2000s'", what, word);
	return 1;
}

/* Writes what the condition on values names that no function has.  Returns its
 * length; 0: nothing. */
static int lacking_text(const struct cst_trace *t, const struct options *o,
			char *out, uint32_t size)
{
	return o->choice.where && !cst_trace_has_values(t, o->choice.where, out,
							size)
		       ? (int)strlen(out)
		       : 0;
}

/* Says so. */
static int is_lacking(const struct cst_trace *t, const struct options *o)
{
	char text[NOTE_MAX];

	if (!lacking_text(t, o, text, sizeof(text)))
		return 0;
	failure("%s", text);
	return 1;
}

static int write_line(cst_write_fn write, char *line, int n)
{
	if (!n)
		return 0;
	memcpy(line, "# ", 2);
	memcpy(line + 2 + n, "\n", 2);
	return write(NULL, line, (uint64_t)n + 3);
}

int trace_input_note(const struct cst_trace *t, const struct options *o,
		     cst_write_fn write)
{
	const char *words[] = {o->choice.exclude, o->choice.until};
	char line[NOTE_MAX + 4];
	int status = write_line(write, line, note(t, o, line + 2, NOTE_MAX));

	for (int i = 0; i < 2 && !status; i++)
		status = write_line(
			write, line,
			wrong_text(t, o, words[i], line + 2, NOTE_MAX));
	if (!status)
		status = write_line(write, line,
				    lacking_text(t, o, line + 2, NOTE_MAX));
	return status;
}

void trace_input_tell_note(const struct cst_trace *t, const struct options *o)
{
	char text[NOTE_MAX];

	if (o->is_chosen && note(t, o, text, sizeof(text)))
		failure("%s", text);
	is_wrong(t, o, o->choice.exclude);
	is_wrong(t, o, o->choice.until);
	is_lacking(t, o);
}

/* Says that nothing is shown, as the call that it begins with was not made. */
static void tell_uncalled(const struct cst_trace *t, const struct options *o,
			  const char *word)
{
	char text[NOTE_MAX];

	if (wrong_text(t, o, word, text, sizeof(text)))
		failure("'%.2000s' was never called: only --all shows the "
			"calls that there are",
			word);
}

void trace_input_tell_wrong(const struct cst_trace *t, const struct options *o,
			    const char *program)
{
	const char *words[] = {o->choice.filter, o->choice.exclude,
			       o->choice.from, o->choice.until};
	enum cst_names names = (enum cst_names)o->choice.names;

	for (int i = 0; i < 4; i++) {
		char near[512];

		if (!words[i])
			continue;
		if (cst_file_has_function(program, words[i], names, near,
					  sizeof(near)) <= 0)
			is_wrong(t, o, words[i]);
		else if (words[i] == o->choice.from)
			tell_uncalled(t, o, words[i]);
	}
}

int trace_input_tell_none(const struct cst_trace *t, const struct options *o,
			  const char *what)
{
	struct cst_status_report s;
	char text[NOTE_MAX];

	cst_trace_status(t, &s);
	if (!s.n_calls) {
		if (s.n_samples)
			failure("no calls, but %" PRIu64 " %s: `cstrace "
				"report' sums them up",
				s.n_samples,
				s.n_samples == 1 ? "sample" : "samples");
		else if (s.sample_hz)
			failure("no samples: the program ran too briefly, or "
				"only waited");
		else
			failure("no calls recorded: `cstrace check PROGRAM' "
				"tells why");
		return STATUS_OK;
	}
	if (is_wrong(t, o, o->report.regex) ||
	    is_wrong(t, o, o->report.callers) ||
	    is_wrong(t, o, o->report.callees) ||
	    is_wrong(t, o, o->graph.function) ||
	    is_wrong(t, o, o->calls.function) ||
	    is_wrong(t, o, o->calls.under) ||
	    is_wrong(t, o, o->choice.filter) ||
	    is_wrong(t, o, o->choice.from) ||
	    is_elsewhere(t, o->choice.file, "defined in", cst_trace_has_file) ||
	    is_elsewhere(t, o->choice.module, "in", cst_trace_has_module) ||
	    is_lacking(t, o))
		return STATUS_FAILED;
	/* The choice hides calls, not the functions that a word names. */
	if (cst_trace_hidden_std(t) &&
	    !((o->report.regex || o->graph.function) &&
	      cst_choice_text(&o->choice, text, sizeof(text))))
		return failure("no such %s but the C++ library's or system "
			       "headers', which --std shows",
			       what);
	if (cst_choice_text(&o->choice, text, sizeof(text)))
		return failure("no such %s (%s%s)", what, text,
			       o->is_chosen ? "; --all shows the others" : "");
	return failure("no such %s", what);
}

void trace_input_announce(const struct cst_trace *t, const char *path,
			  const char *format, const struct cst_choice *choice)
{
	char text[160];

	if (cst_trace_announce(t, path, format, choice, text, sizeof(text)))
		failure("%s", text);
}

void trace_input_close(struct cst_trace *t)
{
	cst_trace_free(t);
}

int trace_input_write(void *arg, const char *text, uint64_t size)
{
	(void)arg;
	progress_line_end();
	while (size) {
		ssize_t n = write(STDOUT_FILENO, text, size);

		if (n < 0 && errno == EINTR && !is_interrupted)
			continue;
		if (n < 0) {
			write_errno = errno;
			return CST_FAILED;
		}
		text += n;
		size -= (uint64_t)n;
	}
	return 0;
}

int trace_input_end(int64_t result, const struct cst_error *err)
{
	if (result >= 0)
		return STATUS_OK;
	if (is_interrupted) {
		signal(SIGINT, SIG_DFL);
		raise(SIGINT); /* so that a script around us ends as well */
	}
	if (write_errno == EPIPE)
		return STATUS_OK;
	if (write_errno)
		return failure("cannot write the output: %s",
			       strerror(write_errno));
	return failure("%s%s", err->text,
		       result == CST_EXISTS ? ": --force replaces it" : "") +
	       (result == CST_BAD_INPUT ? STATUS_USAGE - STATUS_FAILED : 0);
}
