/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What each option takes and sets.
 */
#include "option_rows.h"
#include "base/error.h"
#include "option_values.h"
#include "trace_file.h"

#include <errno.h>
#include <signal.h>
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
/* enum cst_diff_sort but its first, which no word asks for. */
static const char *const diff_sort_words[] = {"calls",	 "total", "change",
					      "percent", "name",  NULL};
static const char *const output_words[] = {"text", "json", "csv", NULL};
static const char *const by_words[] = {"function", "callsite", "thread", NULL};
static const char *const names_words[] = {"simple", "full", NULL};
static const char *const color_words[] = {"off", "on", "auto", NULL};
static const char *const a_trace[] = {":trace", NULL};
static const char *const a_file[] = {":file", NULL};
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
	return dots[2] && c->range_until_ns <= c->range_from_ns ? -1 : 0;
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

static int set_depth(struct options *o, const char *value)
{
	return set_u32(&o->choice.depth, value);
}

static int set_thread(struct options *o, const char *value)
{
	const char *colon = strchr(value, ':');
	auto_free char *process =
		colon ? strndup(value, (size_t)(colon - value)) : strdup("0");

	if (!process || set_u32(&o->choice.process, process) < 0)
		return CST_BAD_INPUT;
	return set_u32(&o->choice.thread, colon ? colon + 1 : value);
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

static int set_fail_on_time(struct options *o, const char *value)
{
	(void)value;
	o->fail_on_time = 1;
	return 0;
}

static int set_counts(struct options *o, const char *value)
{
	(void)value;
	o->diff_by = CST_DIFF_BY_COUNTS;
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

static int set_percent(struct options *o, const char *value)
{
	(void)value;
	o->is_percent = 1;
	return 0;
}

static int set_force(struct options *o, const char *value)
{
	(void)value;
	o->is_forced = 1;
	return 0;
}

static int set_make(struct options *o, const char *value)
{
	(void)value;
	o->make = 1;
	return 0;
}

static int set_last(struct options *o, const char *value)
{
	return value_number(value, UINT64_MAX, &o->choice.last);
}

static int set_min_time(struct options *o, const char *value)
{
	return value_time(value, &o->choice.min_ns);
}

static int set_around(struct options *o, const char *value)
{
	o->choice.around = value;
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

static int set_below(struct options *o, const char *value)
{
	o->choice.root = value;
	return 0;
}

static int set_from(struct options *o, const char *value)
{
	o->choice.from = value;
	return *value ? 0 : CST_BAD_INPUT;
}

static int set_until(struct options *o, const char *value)
{
	o->choice.until = value;
	return *value ? 0 : CST_BAD_INPUT;
}

static int set_in(struct options *o, const char *value)
{
	o->choice.file = value;
	return *value ? 0 : CST_BAD_INPUT;
}

static int set_module(struct options *o, const char *value)
{
	o->choice.module = value;
	return *value ? 0 : CST_BAD_INPUT;
}

static int set_filter(struct options *o, const char *value)
{
	o->choice.filter = value;
	return 0;
}

static int set_exclude(struct options *o, const char *value)
{
	o->choice.exclude = value;
	return 0;
}

static int set_format(struct options *o, const char *value)
{
	o->format = value;
	return 0;
}

static int set_output(struct options *o, const char *value)
{
	o->output = value;
	return *value ? 0 : CST_BAD_INPUT;
}

static int set_flight(struct options *o, const char *value)
{
	return value_size(value, &o->flight_bytes);
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

static int set_all(struct options *o, const char *value)
{
	(void)value;
	o->is_all = 1;
	return 0;
}

static int set_debug_dir(struct options *o, const char *value)
{
	if (o->n_debug_dirs == MAX_DEBUG_DIRS || !*value)
		return CST_BAD_INPUT;
	o->debug_dirs[o->n_debug_dirs++] = value;
	return 0;
}

static int set_max_size(struct options *o, const char *value)
{
	return value_size(value, &o->max_bytes);
}

static int set_keep_depth(struct options *o, const char *value)
{
	return set_u32(&o->keep_depth, value);
}

static int set_keep_time(struct options *o, const char *value)
{
	return value_time(value, &o->keep_ns);
}

static int set_keep_size(struct options *o, const char *value)
{
	return set_u32(&o->keep_bytes, value);
}

static int set_sample(struct options *o, const char *value)
{
	o->sample_hz = USUAL_HZ;
	if (value && (set_u32(&o->sample_hz, value) < 0 ||
		      o->sample_hz > CST_SAMPLE_MAX_HZ))
		return -1;
	return o->sample_hz ? 0 : -1;
}

static int set_wall(struct options *o, const char *value)
{
	(void)value;
	o->is_wall = 1;
	return 0;
}

static int set_for(struct options *o, const char *value)
{
	return value_time(value, &o->sample_ns);
}

static int set_stacks(struct options *o, const char *value)
{
	(void)value;
	o->is_stacks = 1;
	return 0;
}

static int set_samples(struct options *o, const char *value)
{
	(void)value;
	o->choice.samples = 1;
	return 0;
}

static int set_no_what(struct options *o, const char *value)
{
	(void)value;
	o->has_no_what = 1;
	return 0;
}

static int set_std(struct options *o, const char *value)
{
	(void)value;
	o->choice.std = 1;
	return 0;
}

static int set_fold(struct options *o, const char *value)
{
	(void)value;
	o->look.fold = 1;
	return 0;
}

static int set_no_fold(struct options *o, const char *value)
{
	(void)value;
	o->look.fold = 0;
	return 0;
}

static int set_unfold(struct options *o, const char *value)
{
	o->choice.unfold = value;
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

static int set_id(struct options *o, const char *value)
{
	(void)value;
	o->look.id = 1;
	return 0;
}

static int set_no_id(struct options *o, const char *value)
{
	(void)value;
	o->look.id = 0;
	return 0;
}

static int set_no_thread(struct options *o, const char *value)
{
	(void)value;
	o->look.thread = 0;
	return 0;
}

static int set_no_callsite(struct options *o, const char *value)
{
	(void)value;
	o->look.callsite = 0;
	return 0;
}

static int set_no_duration(struct options *o, const char *value)
{
	(void)value;
	o->look.duration = 0;
	return 0;
}

static int set_timestamp(struct options *o, const char *value)
{
	int word = value_word(value, timestamp_words);

	if (word < 0)
		return CST_BAD_INPUT;
	o->look.timestamp = (uint8_t)word; /* enum cst_timestamp */
	return 0;
}

static int set_sort(struct options *o, const char *value)
{
	o->report.sort_keys = value;
	return cst_report_check(&o->report, NULL);
}

static int set_fields(struct options *o, const char *value)
{
	o->report.fields = value;
	return cst_report_check(&o->report, NULL);
}

static int set_graph_depth(struct options *o, const char *value)
{
	return set_u32(&o->graph.depth, value);
}

static int set_graph_sort(struct options *o, const char *value)
{
	int word = value_word(value, graph_sort_words);

	if (word < 0)
		return CST_BAD_INPUT;
	o->graph.sort = (uint32_t)word; /* enum cst_sort */
	return 0;
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

static int set_output_as(struct options *o, const char *value)
{
	int word = value_word(value, output_words);

	if (word < 0)
		return CST_BAD_INPUT;
	o->output_as = (enum cst_output)word;
	return 0;
}

static int set_debug_file(struct options *o, const char *value)
{
	o->debug_file = value;
	return 0;
}

static int set_in_gdb(struct options *o, const char *value)
{
	(void)value;
	o->is_in_gdb = 1;
	return 0;
}

static int set_no_pager(struct options *o, const char *value)
{
	(void)value;
	o->no_pager = 1;
	return 0;
}

static int set_by(struct options *o, const char *value)
{
	int word = value_word(value, by_words);

	if (word < 0)
		return CST_BAD_INPUT;
	o->report.by = (uint32_t)word; /* enum cst_report_by */
	return 0;
}

static int set_callers(struct options *o, const char *value)
{
	o->report.callers = value;
	return 0;
}

static int set_callees(struct options *o, const char *value)
{
	o->report.callees = value;
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

/* Does the terminal know OSC 8?  gdbext/console.py asks likewise. */
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
		if (!strncmp(term, terms[i], strlen(terms[i])))
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
	FOR_CALLS = FOR_SHOW | FOR_REPORT | FOR_GRAPH | FOR_SAVE | FOR_DIFF |
		    FOR_EXPECT,
	FOR_CHOICE = FOR_CALLS | FOR_RUN,
	FOR_READING = FOR_CALLS | FOR_INFO | FOR_LIST,
	FOR_PART = FOR_SHOW | FOR_SAVE,
	FOR_ROWS = FOR_PART | FOR_LIVE,
	FOR_ROOT = FOR_PART | FOR_GRAPH,
	FOR_THREAD = FOR_ROOT | FOR_REPORT | FOR_DIFF | FOR_EXPECT,
	FOR_OUTPUT = FOR_REPORT | FOR_GRAPH | FOR_INFO | FOR_DIFF | FOR_EXPECT |
		     FOR_CHECK,
};

/* In the order of the help: what is the command's own first. */
const struct option_row option_rows[] = {
	{"output", "FILE",
	 "the trace to write, cstrace.cst without this; - is a pipe",
	 FOR_RECORD, set_output, a_trace},
	{"output", "FILE", "keep the trace in this file, too; also -o FILE",
	 FOR_LIVE, set_output, a_trace},
	{"flight", "SIZE",
	 "keep the newest calls only; FILE is written at the end", FOR_RECORD,
	 set_flight, NULL},
	{"on-signal", "SIG",
	 "with --flight: write FILE whenever record gets SIG, too", FOR_RECORD,
	 set_on_signal, signal_words},
	{"max-size", "SIZE",
	 "keep no more calls once FILE has this size, as in 10M", FOR_RECORD,
	 set_max_size, NULL},
	{"keep-depth", "N",
	 "record only N levels of calls; the rest is not kept", FOR_RECORD,
	 set_keep_depth, NULL},
	{"keep-time", "T", "record only calls of at least T, as in 10us",
	 FOR_RECORD, set_keep_time, NULL},
	{"keep-size", "N", "record only functions of at least N bytes of code",
	 FOR_RECORD, set_keep_size, NULL},
	{"no-what", NULL, "do not call an exception's own what() for its text",
	 FOR_RECORD, set_no_what, NULL},
	{"sample", "[=HZ]",
	 "take samples too, 997 a second without HZ; needs no hooks",
	 FOR_RECORD, set_sample, NULL},
	{"wall", NULL, "with --sample: by the clock, threads that wait as well",
	 FOR_RECORD, set_wall, NULL},
	{"for", "T", "with --sample: take them only so long, as in 10s",
	 FOR_RECORD, set_for, NULL},
	{"stacks", NULL, "of samples: where each thread was last", FOR_REPORT,
	 set_stacks, NULL},
	{"samples", NULL, "the samples, not the calls, of a trace with both",
	 FOR_REPORT | FOR_GRAPH | FOR_SAVE, set_samples, NULL},
	{"sort", "KEYS",
	 "calls, total, self, mean, min, max, size, function; as a,b",
	 FOR_REPORT, set_sort, sort_words},
	{"fields", "KEYS",
	 "only these columns, as in calls,self,share; size, too", FOR_REPORT,
	 set_fields, field_words},
	{"limit", "N", "only the first N rows (0: all)", FOR_REPORT, set_limit,
	 NULL},
	{"sort", "KEY", "total, self or calls: order below each caller",
	 FOR_GRAPH, set_graph_sort, graph_sort_words},
	{"limit", "N", "only the N rows with most time (0: all)", FOR_GRAPH,
	 set_limit, NULL},
	{"min-share", "P", "only rows with at least P % of the time, as in 0.5",
	 FOR_GRAPH, set_min_share, NULL},
	{"by", "WHAT", "a row for each function, callsite or thread",
	 FOR_REPORT, set_by, by_words},
	{"callers", "REGEX", "a row for each caller of these functions",
	 FOR_REPORT, set_callers, NULL},
	{"callees", "REGEX", "a row for each function that these call",
	 FOR_REPORT, set_callees, NULL},
	{"counts", NULL, "only how often each call is made, in any thread",
	 FOR_DIFF, set_counts, NULL},
	{"limit", "N", "only N rows of each table (20; 0: all)", FOR_DIFF,
	 set_limit, NULL},
	{"sort", "KEY", "calls, total, change, percent or name: order of rows",
	 FOR_DIFF, set_diff_sort, diff_sort_words},
	{"percent", NULL, "show changes of calls in percent", FOR_DIFF,
	 set_percent, NULL},
	{"times", "P", "also functions whose total changed by more than P %",
	 FOR_DIFF, set_times, NULL},
	{"fail-on-time", NULL, "exit status 1 for those as well", FOR_DIFF,
	 set_fail_on_time, NULL},
	{"make", NULL, "write a golden tree of the trace", FOR_EXPECT, set_make,
	 NULL},
	{"force", NULL, "replace a file that is no golden tree of the program",
	 FOR_EXPECT, set_force, NULL},
	{"force", NULL, "replace a file that cstrace did not write",
	 FOR_SAVE | FOR_RECORD | FOR_LIVE, set_force, NULL},
	{"format", "F", "this format, whatever OUT's ending says", FOR_SAVE,
	 set_format, a_format},
	{"last", "N", "only the last N calls (0: all)", FOR_SHOW, set_last,
	 NULL},
	{"around", "ID", "a call, its callers and its neighbours", FOR_SHOW,
	 set_around, NULL},
	{"at", "TIME", "the calls around this time: 0.000012 as in rows, 12us",
	 FOR_SHOW, set_at, NULL},
	{"below", "ID", "only this call and what it calls", FOR_ROOT, set_below,
	 NULL},
	{"from", "WHERE", "from a function's first call on, or from an ID's",
	 FOR_CHOICE, set_from, NULL},
	{"until", "WHERE", "up to and with the first call of this one then",
	 FOR_CHOICE, set_until, NULL},
	{"thread", "N",
	 "one thread: N of t2, P:N of p2:t1, or its kernel number", FOR_THREAD,
	 set_thread, NULL},
	{"range", "A..B",
	 "only calls that begin then: 1.2s..1.4s, 20ms.., ..1.4", FOR_CALLS,
	 set_range, NULL},
	{"depth", "N", "only N levels of visible calls (0: all)",
	 FOR_CHOICE & ~FOR_GRAPH, set_depth, NULL},
	{"depth", "N", "only N levels of the tree (0: all)", FOR_GRAPH,
	 set_graph_depth, NULL},
	{"filter", "REGEX", "only these functions and what they call",
	 FOR_CHOICE, set_filter, NULL},
	{"exclude", "REGEX", "not these functions; their callees stay",
	 FOR_CHOICE, set_exclude, NULL},
	{"in", "FILE", "only functions defined in this source file", FOR_CHOICE,
	 set_in, NULL},
	{"module", "M", "only functions of this library or program", FOR_CHOICE,
	 set_module, NULL},
	{"min-time", "T", "only calls that took at least T, as in 10us",
	 FOR_CHOICE, set_min_time, NULL},
	{"std", NULL, "the C++ library's functions as well",
	 FOR_CALLS | FOR_LIVE, set_std, NULL},
	{"all", NULL, "all units or functions, not only the first 20",
	 FOR_CHECK, set_all, NULL},
	{"all", NULL, "also what record's options hide",
	 FOR_SHOW | FOR_REPORT | FOR_GRAPH | FOR_SAVE, set_all, NULL},
	{"format", "F", "text, json or csv, a unit for each column", FOR_OUTPUT,
	 set_output_as, output_words},
	{"debug-file", "FILE",
	 "its separate debug file, where that is not found", FOR_CHECK,
	 set_debug_file, a_file},
	{"in-gdb", NULL, NULL, FOR_CHECK, set_in_gdb, NULL},
	{"debug-dir", "DIR",
	 "missing names from this folder or file, by build-id", FOR_READING,
	 set_debug_dir, a_file},
	{"timestamp", "WHICH", "off, elapsed or wall", FOR_ROWS, set_timestamp,
	 timestamp_words},
	{"no-duration", NULL, "without the durations", FOR_ROWS,
	 set_no_duration, NULL},
	{"no-callsite", NULL, "without the call sites", FOR_ROWS,
	 set_no_callsite, NULL},
	{"no-thread", NULL, "without the threads", FOR_ROWS, set_no_thread,
	 NULL},
	{"no-id", NULL, "without the calls' IDs", FOR_SHOW | FOR_LIVE,
	 set_no_id, NULL},
	{"id", NULL, "with the calls' IDs", FOR_SAVE, set_id, NULL},
	{"names", "WHICH", "simple or full: with parameters and the like",
	 FOR_ROWS | FOR_REPORT | FOR_GRAPH, set_names, names_words},
	{"fold", NULL, "calls that repeat, loops and recursion as one row",
	 FOR_SHOW | FOR_LIVE, set_fold, NULL},
	{"no-fold", NULL, "each call in a row, as it is but on a terminal",
	 FOR_SHOW | FOR_LIVE, set_no_fold, NULL},
	{"unfold", "ID", "only what the folded row with this ID stands for",
	 FOR_SHOW, set_unfold, NULL},
	{"no-pager", NULL, "straight to the terminal", FOR_SHOW, set_no_pager,
	 NULL},
	{"links", "WHEN",
	 "places as links: on, off or auto (a terminal that can)",
	 FOR_SHOW | FOR_LIVE, set_links, color_words},
	{"color", "WHEN", "on, off or auto (on a terminal)",
	 FOR_SHOW | FOR_LIVE, set_color, color_words},
	{NULL, NULL, NULL, 0, NULL, NULL},
};

const char *option_row_owner(const struct option_row *row)
{
	/* In the order of the bits FOR_... */
	static const char *const names[] = {"record", "live",	"show", "list",
					    "report", "graph",	"save", "info",
					    "diff",   "expect", "check"};

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
	o->output = trace_file_default;
	o->times = -1;
}
