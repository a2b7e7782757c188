/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What each option takes and sets.
 */
#include "option_rows.h"
#include "base/error.h"
#include "base/text.h"
#include "option_values.h"
#include "trace_file.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first word is 0, as in the enum that it stands for. */
static const char *const timestamp_words[] = {"off", "elapsed", "wall", NULL};
/* More may follow, behind commas. */
static const char *const sort_words[] = {"total",    "self", "calls", "mean",
					 "min",	     "max",  "share", "size",
					 "function", NULL};
static const char *const field_words[] = {
	"calls", "total", "self", "mean", "min", "max", "share", "size", NULL};
/* The first three of sort_words: enum cst_sort. */
static const char *const graph_sort_words[] = {"total", "self", "calls", NULL};
/* enum cst_calls_sort */
static const char *const calls_sort_words[] = {"time",	 "duration", "id",
					       "caller", "thread",   NULL};
/* enum cst_diff_sort but its first, which no word asks for. */
static const char *const diff_sort_words[] = {"calls",	 "total", "change",
					      "percent", "name",  NULL};
static const char *const output_words[] = {"text", "json", "csv", NULL};
static const char *const by_words[] = {"function", "callsite", "thread", NULL};
static const char *const names_words[] = {"simple", "full", NULL};
static const char *const color_words[] = {"off", "on", "auto", NULL};
static const char *const a_trace[] = {":trace", NULL};
static const char *const a_file[] = {":file", NULL};
static const char *const a_condition[] = {":where", NULL};
static const char *const a_format[] = {":format", NULL};
/* The order in which people think of them; any other signal is accepted as
 * well. */
static const char *const signal_words[] = {"USR1", "USR2", "HUP", "QUIT", NULL};

/* "1.2s..1.4s"; either end may be left out, and a bare number is in seconds,
 * as in the rows. */
static int parse_end(const char *text, uint64_t *out)
{
	char seconds[64];
	int n = (int)strspn(text, "0123456789.");

	if (!text[n] && n < 60) {
		snprintf(seconds, sizeof(seconds), "%ss", text);
		text = seconds;
	}
	return value_time(text, out);
}

static int set_range(struct options *o, const char *value)
{
	const char *dots = strstr(value, "..");
	auto_free char *from =
		dots ? strndup(value, (size_t)(dots - value)) : NULL;
	struct cst_choice *c = &o->choice;

	if (!from || (!*from && !dots[2]) ||
	    (*from && parse_end(from, &c->range_from_ns) < 0) ||
	    (dots[2] && parse_end(dots + 2, &c->range_until_ns) < 0))
		return CST_BAD_INPUT;
	return dots[2] && c->range_until_ns <= c->range_from_ns ? CST_BAD_INPUT
								: 0;
}

enum { USUAL_HZ = 997 }; /* a prime: no rhythm of the program's */

static int set_u32(uint32_t *out, const char *value)
{
	uint64_t n;

	if (value_number(value, UINT32_MAX, &n) < 0)
		return CST_BAD_INPUT;
	*out = (uint32_t)n;
	return 0;
}

static int set_thread(struct options *o, const char *value)
{
	const char *colon = strchr(value, ':');
	const char *thread = colon ? colon + 1 : value;
	int is_tag = *thread == 't'; /* as in rows: t2, p2:t1 */
	const char *begin = value + (is_tag && *value == 'p');
	auto_free char *process =
		colon ? strndup(begin, (size_t)(colon - begin))
		      : strdup(is_tag ? "1" : "0");

	if (!process || set_u32(&o->choice.process, process) < 0)
		return CST_BAD_INPUT;
	return set_u32(&o->choice.thread, thread + is_tag);
}

static int set_limit(struct options *o, const char *value)
{
	o->is_limited = 1;
	return set_u32(&o->limit, value);
}

static int set_times(struct options *o, const char *value)
{
	uint64_t n;

	if (value_number(value, 1000000, &n) < 0)
		return CST_BAD_INPUT;
	o->times = (int32_t)n;
	return 0;
}

static int set_diff_sort(struct options *o, const char *value)
{
	int word = value_word(value, diff_sort_words);

	if (word < 0)
		return CST_BAD_INPUT;
	o->diff_sort = (enum cst_diff_sort)(word + CST_DIFF_SORT_CALLS);
	return 0;
}

/* "0.000012" as rows have it, or with a unit. */
static int set_at(struct options *o, const char *value)
{
	char text[64];
	size_t n = strlen(value);
	int is_seconds =
		strspn(value, "0123456789.") == n && strchr(value, '.');

	if (n + 2 > sizeof(text))
		return CST_BAD_INPUT;
	memcpy(text, value, n + 1);
	if (is_seconds)
		memcpy(text + n, "s", 2);
	o->choice.has_at = 1;
	return value_time(text, &o->choice.at_ns);
}

/* "USR1", "SIGUSR1" or "10". */
static int set_on_signal(struct options *o, const char *value)
{
	uint64_t number;

	if (!strncmp(value, "SIG", 3))
		value += 3;
	for (int i = 1; i < SIGRTMIN; i++)
		if (sigabbrev_np(i) && !strcmp(sigabbrev_np(i), value))
			o->on_signal = i;
	if (value_number(value, SIGRTMAX, &number) == 0)
		o->on_signal = (int)number;
	return o->on_signal && o->on_signal != SIGKILL &&
			       o->on_signal != SIGSTOP &&
			       o->on_signal != SIGCHLD
		       ? 0
		       : CST_BAD_INPUT;
}

static int set_debug_dir(struct options *o, const char *value)
{
	if (o->n_debug_dirs == MAX_DEBUG_DIRS || !*value)
		return CST_BAD_INPUT;
	o->debug_dirs[o->n_debug_dirs++] = value;
	return 0;
}

static int set_patch(struct options *o, const char *value)
{
	o->patch = PATCH_ALWAYS;
	o->patch_of = value;
	return 0;
}

static int set_hooks(struct options *o, const char *value)
{
	(void)value;
	o->patch = PATCH_NEVER;
	return 0;
}

static int set_args(struct options *o, const char *value)
{
	o->has_args = 1;
	o->args_of = value;
	return 0;
}

static int set_sample(struct options *o, const char *value)
{
	o->sample_hz = USUAL_HZ;
	if (value && (set_u32(&o->sample_hz, value) < 0 ||
		      o->sample_hz > CST_SAMPLE_MAX_HZ))
		return CST_BAD_INPUT;
	return o->sample_hz ? 0 : CST_BAD_INPUT;
}

static int set_pid(struct options *o, const char *value)
{
	uint64_t n;

	if (value_number(value, INT32_MAX, &n) < 0 || !n)
		return CST_BAD_INPUT;
	o->pid = (int)n;
	return 0;
}

static int set_names(struct options *o, const char *value)
{
	int word = value_word(value, names_words);

	if (word < 0)
		return CST_BAD_INPUT;
	o->look.names = o->choice.names = (uint8_t)word; /* enum cst_names */
	return 0;
}

static int set_sort(struct options *o, const char *value)
{
	o->report.sort = value;
	return cst_report_check(&o->report, NULL);
}

static int set_fields(struct options *o, const char *value)
{
	o->report.fields = value;
	return cst_report_check(&o->report, NULL);
}

/* "2", "0.5" or "0.5%". */
static int set_min_share(struct options *o, const char *value)
{
	char *end;
	double percent;

	if (*value < '0' || *value > '9')
		return CST_BAD_INPUT;
	percent = strtod(value, &end);
	end += *end == '%';
	if (*end || percent > 100)
		return CST_BAD_INPUT;
	o->graph.min_share_ppm = (uint32_t)(percent * 10000 + 0.5);
	return 0;
}

/* Colour is for people: a terminal that does not say no. */
static int is_color_wanted(void)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 &&
	       !(no_color && *no_color);
}

/* Does the terminal know OSC 8?  gdbext/ui/console.py asks likewise. */
static int knows_links(void)
{
	static const char *const programs[] = {"iTerm.app", "WezTerm", "vscode",
					       "ghostty", "Hyper"};
	static const char *const terms[] = {"xterm-kitty", "foot",
					    "alacritty",   "wezterm",
					    "contour",	   "xterm-ghostty"};
	static const char *const names[] = {
		"KONSOLE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "DOMTERM"};
	const char *term = getenv("TERM"), *vte = getenv("VTE_VERSION");
	const char *program = getenv("TERM_PROGRAM");

	if (!term || !strncmp(term, "screen", 6) || !strncmp(term, "tmux", 4))
		return 0;
	if (vte && strtol(vte, NULL, 10) >= 5000)
		return 1;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (program && !strcmp(program, programs[i]))
			return 1;
	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++)
		if (text_begins(term, terms[i]))
			return 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (getenv(names[i]) && *getenv(names[i]))
			return 1;
	return 0;
}

/* Among the pagers, less alone lets links through. */
static int set_links(struct options *o, const char *value)
{
	int word = value_word(value, color_words);
	int has_own_pager = getenv("CSTRACE_PAGER") || getenv("PAGER");

	if (word < 0)
		return CST_BAD_INPUT;
	o->look.links =
		(uint8_t)(word == 2 ? is_color_wanted() && !has_own_pager &&
					      knows_links()
				    : word);
	return 0;
}

static int set_color(struct options *o, const char *value)
{
	int word = value_word(value, color_words);

	if (word < 0)
		return CST_BAD_INPUT;
	o->look.color = (uint8_t)(word == 2 ? is_color_wanted() : word);
	return 0;
}

enum {
	FOR_ANSWERS = FOR_SHOW | FOR_REPORT | FOR_GRAPH | FOR_SAVE | FOR_DIFF |
		      FOR_EXPECT | FOR_CALLS,
	FOR_CHOICE = FOR_ANSWERS | FOR_RUN,
	FOR_READING = FOR_ANSWERS | FOR_INFO | FOR_LIST | FOR_TOP,
	FOR_PART = FOR_SHOW | FOR_SAVE,
	FOR_WHERE = FOR_ANSWERS | FOR_LIVE,
	FOR_ROWS = FOR_PART | FOR_LIVE | FOR_CALLS,
	FOR_ROOT = FOR_PART | FOR_GRAPH | FOR_CALLS,
	FOR_THREAD = FOR_ROOT | FOR_REPORT | FOR_DIFF | FOR_EXPECT | FOR_TOP,
	FOR_OUTPUT = FOR_REPORT | FOR_GRAPH | FOR_INFO | FOR_DIFF | FOR_EXPECT |
		     FOR_CHECK | FOR_CALLS,
};

/* What a row's value becomes: a field of struct options, or what a function
 * makes of it. */
#define FIELD(how, field)                           \
	how, NULL, offsetof(struct options, field), \
		sizeof(((struct options *)0)->field)
#define OWN(set) AS_OWN, set, 0, 0

/* In the order of the help: what is the command's own first. */
const struct option_row option_rows[] = {
	{"output", "FILE",
	 "the trace to write, cstrace.cst without this; - is a pipe",
	 FOR_RECORD | FOR_SAMPLE, a_trace, FIELD(AS_NAME, output)},
	{"output", "FILE", "keep the trace in this file, too; also -o FILE",
	 FOR_LIVE, a_trace, FIELD(AS_NAME, output)},
	{"flight", "SIZE",
	 "keep the newest calls only; FILE is written at the end", FOR_RECORD,
	 NULL, FIELD(AS_SIZE, flight_bytes)},
	{"core", NULL, "with --flight: no FILE; the core file has the calls",
	 FOR_RECORD, NULL, FIELD(AS_ON, is_for_core)},
	{"on-signal", "SIG",
	 "with --flight: write FILE whenever record gets SIG, too", FOR_RECORD,
	 signal_words, OWN(set_on_signal)},
	{"max-size", "SIZE",
	 "keep no more calls once FILE has this size, as in 10M", FOR_RECORD,
	 NULL, FIELD(AS_SIZE, max_bytes)},
	{"keep-depth", "N",
	 "record only N levels of calls; the rest is not kept", FOR_RECORD,
	 NULL, FIELD(AS_NUMBER, keep_depth)},
	{"keep-time", "T", "record only calls of at least T, as in 10us",
	 FOR_RECORD, NULL, FIELD(AS_TIME, keep_ns)},
	{"keep-size", "N", "record only functions of at least N bytes of code",
	 FOR_RECORD, NULL, FIELD(AS_NUMBER, keep_bytes)},
	{"no-what", NULL, "do not call an exception's own what() for its text",
	 FOR_RUN, NULL, FIELD(AS_ON, has_no_what)},
	{"args", "[=REGEX]",
	 "record arguments and results (of functions like REGEX)", FOR_RUN,
	 NULL, OWN(set_args)},
	{"members", NULL,
	 "with the arguments, of methods members of *this, too", FOR_RUN, NULL,
	 FIELD(AS_ON, has_members)},
	{"text-bytes", "N", "with the arguments, N bytes of each text, not 32",
	 FOR_RUN, NULL, FIELD(AS_NUMBER, text_bytes)},
	{"patch", "[=REGEX]",
	 "patch all functions without hooks, or those like REGEX",
	 FOR_RECORD | FOR_LIVE, NULL, OWN(set_patch)},
	{"modules", "REGEX",
	 "patch such libraries of the system's folders, too",
	 FOR_RECORD | FOR_LIVE, NULL, FIELD(AS_NAME, modules)},
	{"border", NULL,
	 "also calls into libraries that are not traced, as malloc()",
	 FOR_RECORD | FOR_LIVE, NULL, FIELD(AS_ON, has_border)},
	{"patch", "[=REGEX]",
	 "what is traced without hooks, and what is not and why", FOR_CHECK,
	 NULL, OWN(set_patch)},
	{"hooks", NULL, "only the calls of functions compiled with hooks",
	 FOR_RECORD | FOR_LIVE, NULL, OWN(set_hooks)},
	{"no-args", NULL, "record no arguments and results, as without this",
	 FOR_RUN, NULL, FIELD(AS_OFF, has_args)},
	{"sample", "[=HZ]",
	 "take samples too, 997 a second without HZ; needs no hooks",
	 FOR_RECORD, NULL, OWN(set_sample)},
	{"pid", "PID", "a process that runs already, no ./app; also -p PID",
	 FOR_RECORD, NULL, OWN(set_pid)},
	{"wall", NULL, "with --sample: by the clock, threads that wait as well",
	 FOR_RECORD, NULL, FIELD(AS_ON, is_wall)},
	{"for", "T", "with -p or --sample: only so long, as in 10s", FOR_RECORD,
	 NULL, FIELD(AS_TIME, sample_ns)},
	{"pid", "PID", "the process; also -p PID", FOR_SAMPLE | FOR_TOP, NULL,
	 OWN(set_pid)},
	{"hz", "N", "samples a second, 997 without this (97 from outside)",
	 FOR_SAMPLE | FOR_TOP, NULL, OWN(set_sample)},
	{"for", "T", "only so long, as in 10s", FOR_SAMPLE | FOR_TOP, NULL,
	 FIELD(AS_TIME, sample_ns)},
	{"wall", NULL, "by the clock, threads that wait as well",
	 FOR_SAMPLE | FOR_TOP, NULL, FIELD(AS_ON, is_wall)},
	{"outside", NULL, "load nothing into it: sample it from outside",
	 FOR_SAMPLE | FOR_TOP, NULL, FIELD(AS_ON, is_outside)},
	{"every", "T", "a picture so often, 1s without this", FOR_TOP, NULL,
	 FIELD(AS_TIME, every_ns)},
	{"recent", "T", "of the newest part only, 10s without this (0: of all)",
	 FOR_TOP, NULL, FIELD(AS_TIME, recent_ns)},
	{"stacks", NULL, "of samples: where each thread was last", FOR_REPORT,
	 NULL, FIELD(AS_ON, is_stacks)},
	{"samples", NULL, "the samples, not the calls, of a trace with both",
	 FOR_REPORT | FOR_GRAPH | FOR_SAVE | FOR_TOP, NULL,
	 FIELD(AS_ON, choice.samples)},
	{"sort", "KEYS",
	 "calls, total, self, mean, min, max, size, function; as a,b",
	 FOR_REPORT | FOR_TOP, sort_words, OWN(set_sort)},
	{"fields", "KEYS",
	 "only these columns, as in calls,self,share; size, too",
	 FOR_REPORT | FOR_TOP, field_words, OWN(set_fields)},
	{"limit", "N", "only the first N rows (0: all)", FOR_REPORT | FOR_TOP,
	 NULL, OWN(set_limit)},
	{"sort", "KEY", "time, duration, id, caller or thread: order of rows",
	 FOR_CALLS, calls_sort_words, FIELD(AS_WORD, calls.sort)},
	{"limit", "N", "only the first N rows (0: all)", FOR_CALLS, NULL,
	 OWN(set_limit)},
	{"under", "WHERE",
	 "only those beneath a call of this function, or an ID", FOR_CALLS,
	 NULL, FIELD(AS_NAME, calls.under)},
	{"last", "N", "only the last N calls of the function (0: all)",
	 FOR_CALLS, NULL, FIELD(AS_NUMBER, choice.last)},
	{"sort", "KEY", "total, self or calls: order below each caller",
	 FOR_GRAPH, graph_sort_words, FIELD(AS_WORD, graph.sort)},
	{"limit", "N", "only the N rows with most time (0: all)", FOR_GRAPH,
	 NULL, OWN(set_limit)},
	{"min-share", "P", "only rows with at least P % of the time, as in 0.5",
	 FOR_GRAPH, NULL, OWN(set_min_share)},
	{"by", "WHAT", "a row for each function, callsite or thread",
	 FOR_REPORT | FOR_TOP, by_words, FIELD(AS_WORD, report.by)},
	{"callers", "REGEX", "a row for each caller of these functions",
	 FOR_REPORT, NULL, FIELD(AS_TEXT, report.callers)},
	{"callees", "REGEX", "a row for each function that these call",
	 FOR_REPORT, NULL, FIELD(AS_TEXT, report.callees)},
	{"counts", NULL, "only how often each call is made, in any thread",
	 FOR_DIFF, NULL, FIELD(AS_ON, diff_by)},
	{"limit", "N", "only N rows of each table (20; 0: all)", FOR_DIFF, NULL,
	 OWN(set_limit)},
	{"sort", "KEY", "calls, total, change, percent or name: order of rows",
	 FOR_DIFF, diff_sort_words, OWN(set_diff_sort)},
	{"percent", NULL, "show changes of calls in percent", FOR_DIFF, NULL,
	 FIELD(AS_ON, is_percent)},
	{"times", "P", "also functions whose total changed by more than P %",
	 FOR_DIFF, NULL, OWN(set_times)},
	{"fail-on-time", NULL, "exit status 1 for those as well", FOR_DIFF,
	 NULL, FIELD(AS_ON, fail_on_time)},
	{"make", NULL, "write a golden tree of the trace", FOR_EXPECT, NULL,
	 FIELD(AS_ON, make)},
	{"force", NULL, "replace a file that is no golden tree of the program",
	 FOR_EXPECT, NULL, FIELD(AS_ON, is_forced)},
	{"force", NULL, "replace a file that cstrace did not write",
	 FOR_SAVE | FOR_RECORD | FOR_LIVE | FOR_SAMPLE, NULL,
	 FIELD(AS_ON, is_forced)},
	{"format", "F", "this format, whatever OUT's ending says", FOR_SAVE,
	 a_format, FIELD(AS_TEXT, format)},
	{"last", "N", "only the last N calls (0: all)", FOR_SHOW, NULL,
	 FIELD(AS_NUMBER, choice.last)},
	{"around", "ID", "a call, its callers and its neighbours", FOR_SHOW,
	 NULL, FIELD(AS_TEXT, choice.around)},
	{"at", "TIME", "the calls around this time: 0.000012 as in rows, 12us",
	 FOR_SHOW, NULL, OWN(set_at)},
	{"below", "ID", "only this call and what it calls", FOR_ROOT, NULL,
	 FIELD(AS_TEXT, choice.root)},
	{"from", "WHERE", "from a function's first call on, or from an ID's",
	 FOR_CHOICE, NULL, FIELD(AS_NAME, choice.from)},
	{"until", "WHERE", "up to and with the first call of this one then",
	 FOR_CHOICE, NULL, FIELD(AS_NAME, choice.until)},
	{"thread", "T",
	 "one thread: t2 or p2:t1, as in rows, or its kernel number",
	 FOR_THREAD, NULL, OWN(set_thread)},
	{"range", "A..B",
	 "only calls that begin then: 1.2s..1.4s, 20ms.., ..1.4", FOR_ANSWERS,
	 NULL, OWN(set_range)},
	{"depth", "N", "only N levels of visible calls (0: all)",
	 FOR_CHOICE & ~FOR_GRAPH, NULL, FIELD(AS_NUMBER, choice.depth)},
	{"depth", "N", "only N levels of the tree (0: all)", FOR_GRAPH, NULL,
	 FIELD(AS_NUMBER, graph.depth)},
	{"filter", "REGEX", "only these functions and what they call",
	 FOR_CHOICE | FOR_TOP, NULL, FIELD(AS_TEXT, choice.filter)},
	{"exclude", "REGEX", "not these functions; their callees stay",
	 FOR_CHOICE | FOR_TOP, NULL, FIELD(AS_TEXT, choice.exclude)},
	{"in", "FILE", "only functions defined in this source file", FOR_CHOICE,
	 NULL, FIELD(AS_NAME, choice.file)},
	{"module", "M", "only functions of this library or program",
	 FOR_CHOICE | FOR_TOP, NULL, FIELD(AS_NAME, choice.module)},
	{"min-time", "T", "only calls that took at least T, as in 10us",
	 FOR_CHOICE, NULL, FIELD(AS_TIME, choice.min_ns)},
	{"where", "COND", "only calls with such values: 'parse.base == 16'",
	 FOR_WHERE, a_condition, FIELD(AS_TEXT, choice.where)},
	{"std", NULL, "the C++ library's functions as well",
	 FOR_ANSWERS | FOR_LIVE, NULL, FIELD(AS_ON, choice.std)},
	{"all", NULL, "all units or functions, not only the first 20",
	 FOR_CHECK, NULL, FIELD(AS_ON, is_all)},
	{"all", NULL, "also what record's options hide",
	 FOR_SHOW | FOR_REPORT | FOR_GRAPH | FOR_SAVE | FOR_CALLS, NULL,
	 FIELD(AS_ON, is_all)},
	{"format", "F", "text, json or csv, a unit for each column", FOR_OUTPUT,
	 output_words, FIELD(AS_WORD, output_as)},
	{"debug-file", "FILE",
	 "its separate debug file, where that is not found", FOR_CHECK, a_file,
	 FIELD(AS_TEXT, debug_file)},
	{"in-gdb", NULL, NULL, FOR_CHECK, NULL, FIELD(AS_ON, is_in_gdb)},
	{"debug-dir", "DIR",
	 "missing names from this folder or file, by build-id", FOR_READING,
	 a_file, OWN(set_debug_dir)},
	{"timestamp", "WHICH", "off, elapsed or wall", FOR_ROWS,
	 timestamp_words, FIELD(AS_WORD, look.timestamp)},
	{"no-duration", NULL, "without the durations", FOR_ROWS, NULL,
	 FIELD(AS_OFF, look.duration)},
	{"no-callsite", NULL, "without the call sites", FOR_ROWS, NULL,
	 FIELD(AS_OFF, look.callsite)},
	{"no-thread", NULL, "without the threads", FOR_ROWS, NULL,
	 FIELD(AS_OFF, look.thread)},
	{"no-id", NULL, "without the calls' IDs",
	 FOR_SHOW | FOR_LIVE | FOR_CALLS, NULL, FIELD(AS_OFF, look.id)},
	{"id", NULL, "with the calls' IDs", FOR_SAVE, NULL,
	 FIELD(AS_ON, look.id)},
	{"names", "WHICH", "simple or full: with parameters and the like",
	 FOR_ROWS | FOR_REPORT | FOR_GRAPH | FOR_TOP, names_words,
	 OWN(set_names)},
	{"fold", NULL, "calls that repeat, loops and recursion as one row",
	 FOR_SHOW | FOR_LIVE, NULL, FIELD(AS_ON, look.fold)},
	{"no-fold", NULL, "each call in a row, as it is but on a terminal",
	 FOR_SHOW | FOR_LIVE, NULL, FIELD(AS_OFF, look.fold)},
	{"unfold", "ID", "only what the folded row with this ID stands for",
	 FOR_SHOW, NULL, FIELD(AS_TEXT, choice.unfold)},
	{"no-pager", NULL, "straight to the terminal", FOR_SHOW | FOR_CALLS,
	 NULL, FIELD(AS_ON, no_pager)},
	{"links", "WHEN",
	 "places as links: on, off or auto (a terminal that can)",
	 FOR_SHOW | FOR_LIVE | FOR_CALLS, color_words, OWN(set_links)},
	{"color", "WHEN", "on, off or auto (on a terminal)",
	 FOR_SHOW | FOR_LIVE | FOR_CALLS, color_words, OWN(set_color)},
	{0},
};

int option_row_set(const struct option_row *row, struct options *o,
		   const char *value)
{
	uint64_t n = 0;
	int status = 0;

	switch (row->how) {
	case AS_OWN:
		return row->set(o, value);
	case AS_ON:
		n = 1;
		break;
	case AS_OFF:
		break;
	case AS_NAME:
		status = *value ? 0 : CST_BAD_INPUT;
		/* fall through */
	case AS_TEXT:
		n = (uintptr_t)value;
		break;
	case AS_NUMBER:
		status = value_number(value, UINT64_MAX >> (64 - 8 * row->size),
				      &n);
		break;
	case AS_TIME:
		status = value_time(value, &n);
		break;
	case AS_SIZE:
		status = value_size(value, &n);
		break;
	case AS_WORD:
		status = value_word(value, row->words);
		n = (uint64_t)status;
		break;
	}
	/* An integer's first bytes: the processor is a little-endian one. */
	if (status >= 0)
		memcpy((char *)o + row->at, &n, row->size);
	return status < 0 ? CST_BAD_INPUT : 0;
}

const char *option_row_owner(const struct option_row *row)
{
	/* In the order of the bits FOR_... */
	static const char *const names[32] = {
		"record", "live", "show",   "list",  "report", "graph",	 "save",
		"info",	  "diff", "expect", "check", "calls",  "sample", "top"};

	return names[__builtin_ctz(row->use)];
}

void options_default(struct options *o)
{
	*o = (struct options){0};
	o->look.timestamp = CST_TIME_ELAPSED;
	o->look.duration = 1;
	o->look.callsite = 1;
	o->look.thread = 1;
	o->look.width = CST_WIDTH_TERMINAL; /* of live rows */
	set_color(o, "auto");
	set_links(o, "auto");
	o->choice.words = CST_WORDS_COMMAND;
	o->output = trace_file_default;
	o->times = -1;
	o->every_ns = 1000000000;
	o->recent_ns = 10000000000;
}
