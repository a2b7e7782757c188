/* SPDX-License-Identifier: MIT
 *
 *    0.000012    3.210 us  2.17     parse  app.c:42
 *
 * Columns of fixed width first, so that they align; the call site right
 * behind the name, so that rows stay narrow.
 */
#include "rows/row.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "names/marks.h"
#include "names/values_text.h"
#include "trace/callid.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	NAME_MAX_BYTES = 4000,
	FILE_MAX_BYTES = 1000,
	CALLER_MAX_BYTES = 500,
	HOST_BYTES = 256,
	THREAD_NAME_BYTES = 80,
	LEAST_WIDTH = 20,
	WALL_WIDTH = 15, /* HH:MM:SS.micros */
};

#define DIM "\033[2m"
#define RESET "\033[0m"

static char *put(char *out, const char *text)
{
	size_t len = strlen(text);

	memcpy(out, text, len);
	return out + len;
}

static char *put_spaces(char *out, unsigned n)
{
	memset(out, ' ', n);
	return out + n;
}

char *row_put_text(char *out, const char *text, unsigned room)
{
	return utf8_put(out, text, room);
}

/* "HH:MM:" changes once a minute only, and localtime_r() is slow. */
static char *put_wall(char *out, uint64_t ns)
{
	static __thread uint64_t kept_minute = UINT64_MAX;
	static __thread char kept[6];
	uint64_t s = ns / 1000000000, minute = s / 60;

	if (minute != kept_minute) {
		time_t at = (time_t)s;
		struct tm tm = {0};

		localtime_r(&at, &tm);
		number_put_digits(kept, (uint32_t)tm.tm_hour, 2);
		kept[2] = ':';
		number_put_digits(kept + 3, (uint32_t)tm.tm_min, 2);
		kept[5] = ':';
		kept_minute = minute;
	}
	memcpy(out, kept, 6);
	out = number_put_digits(out + 6, (uint32_t)(s % 60), 2);
	*out++ = '.';
	return number_put_digits(out, (uint32_t)(ns % 1000000000 / 1000), 6);
}

static char *put_time(const struct row *row, const struct cst_look *look,
		      char *out)
{
	int is_wall = look->timestamp == CST_TIME_WALL;

	if (row->is_seed && row->kind != ROW_CLOSE) {
		out = put_spaces(out, (is_wall ? WALL_WIDTH : NUMBER_SECONDS) -
					      (unsigned)strlen("before"));
		return put(out, "before");
	}
	return is_wall ? put_wall(out, row->time_ns)
		       : number_put_seconds(out, row->time_ns);
}

static char *put_duration(const struct row *row, char *out)
{
	const struct call_site *site = &row->names->sites[row->site];

	if (function_is_instant(&row->names->functions[site->function]) &&
	    !row->duration_ns) {
		out = put_spaces(out, NUMBER_DURATION - 1);
		return put(out, "-");
	}
	if (row->kind != ROW_OPEN)
		return number_put_duration(out, row->duration_ns);
	out = put_spaces(out, NUMBER_DURATION - (unsigned)strlen("open"));
	return put(out, "open");
}

char *row_put_thread(char *out, uint32_t process, uint32_t ordinal)
{
	if (process > 1) {
		*out++ = 'p';
		out = number_put(out, process);
		*out++ = ':';
	}
	*out++ = 't';
	return number_put(out, ordinal);
}

unsigned row_tag_width(uint32_t process, uint32_t thread)
{
	char text[CALLID_MAX];

	return (unsigned)(row_put_thread(text, process, thread) - text);
}

unsigned row_id_width(uint32_t process, uint32_t thread, uint64_t number,
		      int is_seed)
{
	char text[CALLID_MAX];

	return (unsigned)(callid_put_numbers(text, process, thread, number,
					     is_seed) -
			  text);
}

struct row_cell row_cell_of(const struct cst_trace *t,
			    const struct cst_look *look)
{
	struct row_cell cell = {.has_threads =
					look->thread && t->n_threads > 1};
	unsigned width = 0;

	if (!look->id && !cell.has_threads)
		return cell;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		const struct trace_thread *h = &t->threads[i];
		/* Calls that were not kept have numbers, too. */
		uint64_t most = t->status.n_calls + t->status.losses.n_dropped +
				t->n_notes;
		uint64_t n_seeds = t->status.n_seeds;
		unsigned tag = row_tag_width(h->process, h->ordinal);
		unsigned id = row_id_width(h->process, h->ordinal, most, 0);
		unsigned seed = row_id_width(h->process, h->ordinal, n_seeds,
					     n_seeds > 0);

		if (!look->id)
			id = seed = tag;
		width = id > width ? id : width;
		width = seed > width ? seed : width;
	}
	cell.width = (uint8_t)width;
	return cell;
}

/* Fill up to `width` columns, where `used` are taken. */
static char *fill(char *out, unsigned used, unsigned width)
{
	return put_spaces(out, used < width ? width - used : 0);
}

/* Threads have any colour but that of errors. */
static char *put_color(const struct row *row, char *out)
{
	if (!row->cell.has_threads)
		return put(out, DIM);
	out = put(out, "\033[3");
	*out++ = (char)('2' + row->thread_color % 5);
	*out++ = 'm';
	return out;
}

static char *put_cell(const struct row *row, const struct cst_look *look,
		      char *out)
{
	char *begin;
	unsigned used;

	if (look->color)
		out = put_color(row, out);
	begin = out;
	if (look->id && row->number)
		out = callid_put_numbers(out, row->process, row->thread,
					 row->number, row->is_seed);
	else if (!look->id && row->cell.has_threads)
		out = row_put_thread(out, row->process, row->thread);
	used = (unsigned)(out - begin);
	if (look->color)
		out = put(out, RESET);
	out = fill(out, used, row->cell.width);
	return put(out, "  ");
}

struct cst_look row_look(const struct cst_look *look)
{
	struct cst_look fitting = *look;

	if (look->width && look->width < 80)
		fitting.timestamp = 0;
	if (look->width && look->width < 48)
		fitting.duration = 0;
	return fitting;
}

uint32_t row_tree_blanks(uint32_t depth)
{
	enum { WIDE_LEVELS = 8 };

	return depth <= WIDE_LEVELS ? depth * 2 : depth + WIDE_LEVELS;
}

/* Returns how many blanks the tree may have: less in a narrow row. */
static uint32_t most_blanks(const struct cst_look *look)
{
	uint32_t room = look->width / 2;

	if (!look->width || room >= ROW_BLANKS + 20)
		return ROW_BLANKS;
	return room < 36 ? 16 : room - 20;
}

static char *put_tree(uint32_t depth, const struct cst_look *look, char *out)
{
	uint32_t most = most_blanks(look), blanks = row_tree_blanks(depth);

	if (blanks <= most)
		return put_spaces(out, blanks);
	out = put_spaces(out, most);
	*out++ = '[';
	out = number_put(out, depth);
	return put(out, "] ");
}

char *row_put_prefix(const struct row *row, const struct cst_look *look,
		     char *out)
{
	int is_dim = look->color && (look->timestamp || look->duration);

	if (is_dim)
		out = put(out, DIM);
	if (look->timestamp) {
		out = put_time(row, look, out);
		memcpy(out, "  ", 2);
		out += 2;
	}
	if (look->duration) {
		out = put_duration(row, out);
		memcpy(out,
		       row->is_stopped	   ? "* "
		       : row->is_estimated ? "~ "
					   : "  ",
		       2);
		out += 2;
	}
	if (is_dim)
		out = put(out, RESET);
	if (row->cell.width)
		out = put_cell(row, look, out);
	return put_tree(row->depth, look, out);
}

#define LINK "\033]8;;"
#define LINK_END "\033\\"

/* "file://host/path" with what a URL has no room for as %XX. */
static char *put_url(char *out, const char *path)
{
	static const char hex[] = "0123456789ABCDEF";
	static __thread char host[HOST_BYTES];

	if (!*host && gethostname(host, sizeof(host) - 1) < 0)
		strcpy(host, "localhost");
	out = put(put(out, "file://"), host);
	for (int n = 0; n < FILE_MAX_BYTES && path[n]; n++) {
		unsigned char c = (unsigned char)path[n];

		if (isalnum(c) || strchr("/._-~+", c)) {
			*out++ = (char)c;
			continue;
		}
		*out++ = '%';
		*out++ = hex[c >> 4];
		*out++ = hex[c & 15];
	}
	return out;
}

static char *put_lines(const struct row *row, uint32_t line, char *out)
{
	int is_range = row->first_line < row->last_line;

	if (!line && !is_range)
		return out;
	*out++ = ':';
	if (!is_range)
		return number_put(out, line);
	out = number_put(out, row->first_line);
	*out++ = '-';
	return number_put(out, row->last_line);
}

static char *put_site(const struct row *row, const struct cst_look *look,
		      char *out)
{
	const struct call_site *site = &row->names->sites[row->from];
	const char *path = *site->file == '/' ? site->file : site->path;
	int is_link = look->links && path;

	out = put(out, look->color ? "  " DIM : "  ");
	if (is_link)
		out = put(put_url(put(out, LINK), path), LINK_END);
	out = row_put_text(out, text_last_name(site->file), FILE_MAX_BYTES);
	out = put_lines(row, site->line, out);
	if (is_link)
		out = put(out, LINK LINK_END);
	return look->color ? put(out, RESET) : out;
}

char *row_put_function(char *out, const struct names *names, uint32_t function,
		       int how, unsigned room)
{
	const char *mark, *name = names_shown(names, function, how, &mark);

	return put(row_put_text(out, name, room), mark);
}

static uint32_t color_of(const struct row *row, const struct cst_look *look)
{
	return look->color && row->number && !row->is_seed
		       ? marks_of(row->names, row->process, row->thread,
				  row->number)
		       : 0;
}

/* Puts what was called and its values; all of a message's text is made of
 * these. */
static char *put_call(const struct row *row, const struct cst_look *look,
		      char *out)
{
	uint32_t id = row->names->sites[row->site].function;
	const struct function *f = &row->names->functions[id];

	if (f->kind != KIND_MESSAGE && f->kind != KIND_POINT)
		out = row_put_function(out, row->names, id, look->names,
				       NAME_MAX_BYTES);
	if (row->has_other_values)
		return put(out, "(...)");
	return row->values || f->kind ? values_put_row(out, f, row->values,
						       row->kind == ROW_CLOSE)
				      : out;
}

static char *put_folded(const struct row *row, char *out)
{
	if (row->n_folded > 1) {
		out = put(out, "  x");
		out = number_put(out, row->n_folded);
	}
	if (row->n_levels > 1) {
		out = put(out, ", ");
		out = number_put(out, row->n_levels);
		out = put(out, " deep");
	}
	if (row->n_loop > 1) {
		out = put(out, "  (loop of ");
		out = number_put(out, row->n_loop);
		out = put(out, ")");
	}
	return out;
}

/* Puts the half of the suffix that says which call it is. */
static char *put_what(const struct row *row, const struct cst_look *look,
		      char *out)
{
	uint32_t color = color_of(row, look);

	if (row->kind == ROW_CLOSE)
		out = put(out, "<- ");
	if (color)
		out += sprintf(out, "\033[1;3%um", color);
	out = put_call(row, look, out);
	return color ? put(out, RESET) : out;
}

/* Puts the other half: how often, from where, how it ended. */
static char *put_tail(const struct row *row, const struct cst_look *look,
		      char *out)
{
	const struct call_site *from = &row->names->sites[row->from];

	out = put_folded(row, out);
	if (row->caller)
		out = row_put_function(put(out, "  from "), row->names,
				       row->caller - 1, look->names,
				       CALLER_MAX_BYTES);
	if (look->callsite && from->file && row->kind != ROW_CLOSE)
		out = put_site(row, look, out);
	if (row->names->sites[row->site].is_tail && row->kind != ROW_CLOSE)
		out = put(out, "  (tail call)");
	if (row->is_unwound)
		out = put(out, row->is_vetoed ? "  (vetoed)" : "  (unwound)");
	*out++ = '\n';
	return out;
}

char *row_put_suffix(const struct row *row, const struct cst_look *look,
		     char *out)
{
	return put_tail(row, look, put_what(row, look, out));
}

/* Behind the escape sequence at p: a colour's or a link's. */
static const char *skip_escape(const char *p, const char *end)
{
	if (p[1] == ']') {
		for (p += 2; p < end && *p != '\\'; p++)
			;
		return p < end ? p + 1 : end;
	}
	while (p < end && *p != 'm')
		p++;
	return p < end ? p + 1 : end;
}

/* The row is a note: "#" stands in its first column, which mostly is blank. */
static char *put_mark(char *begin, char *end)
{
	char *p = begin;

	if (*p == '\033')
		p = (char *)skip_escape(p, end);
	if (*p != ' ') {
		memmove(begin + 1, begin, (size_t)(end - begin));
		*begin = '#';
		return end + 1;
	}
	memmove(begin + 1, begin, (size_t)(p - begin));
	*begin = '#';
	return end;
}

/* ---- cutting ------------------------------------------------------------- */

/* A terminal gives these two columns. */
static int is_wide(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{0x1100, 0x115f},   {0x2e80, 0xa4cf},	{0xac00, 0xd7a3},
		{0xf900, 0xfaff},   {0xfe30, 0xfe6f},	{0xff00, 0xff60},
		{0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff},
		{0x20000, 0x3fffd},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return 1;
	return 0;
}

/* Returns how many columns the text takes; *cut is where the first `room` of
 * them end. */
static unsigned columns(char *begin, const char *end, unsigned room, char **cut)
{
	unsigned n = 0;

	*cut = begin;
	for (char *p = begin; p < end;) {
		uint32_t c = ' ';
		int size;

		if (*p == '\033') {
			p = (char *)skip_escape(p, end);
			continue;
		}
		size = utf8_decode(p, &c);
		n += size > 1 && is_wide(c) ? 2 : 1;
		p += size > 0 ? size : 1;
		if (n <= room)
			*cut = p;
	}
	return n;
}

static char *put_cut(const struct cst_look *look, char *out)
{
	out = put(out, "...");
	if (look->links)
		out = put(out, LINK LINK_END);
	return look->color ? put(out, RESET) : out;
}

/* Cuts the row to the look's width, before its tail if that leaves enough of
 * what was called: where it was called and how it ended say more than the last
 * of its values.  Returns the row's new end. */
static char *cut_to_width(char *begin, char *what, char *tail, char *end,
			  const struct cst_look *look)
{
	enum { LEAST_WHAT = 24 };
	unsigned width = look->width < LEAST_WIDTH ? LEAST_WIDTH : look->width;
	unsigned n_tail, least;
	size_t n_bytes = (size_t)(end - tail), n_dots;
	char dots[64], *cut;

	if (!look->width || end - begin <= (long)width ||
	    columns(begin, end - 1, width - 3, &cut) <= width)
		return end;
	n_tail = columns(tail, end - 1, 0, &cut);
	least = columns(begin, what, 0, &cut) + LEAST_WHAT;
	if (least + n_tail > width) {
		columns(begin, end - 1, width - 3, &cut);
		cut = put_cut(look, cut);
		*cut++ = '\n';
		return cut;
	}
	n_dots = (size_t)(put_cut(look, dots) - dots);
	columns(begin, tail, width - n_tail - 3, &cut);
	memmove(cut + n_dots, tail, n_bytes);
	memcpy(cut, dots, n_dots);
	return cut + n_dots + n_bytes;
}

/* ---- rows ---------------------------------------------------------------- */

uint64_t row_format(const struct row *row, const struct cst_look *look,
		    char *out)
{
	char *what = row_put_prefix(row, look, out), *tail, *end;

	if (row->is_again)
		what = put_mark(out, what);
	tail = put_what(row, look, what);
	end = put_tail(row, look, tail);
	return (uint64_t)(cut_to_width(out, what, tail, end, look) - out);
}

uint64_t row_note(uint32_t process, uint32_t thread, const char *name,
		  uint32_t tid, const struct cst_look *look, char *out)
{
	char *p = put(out, "# ");

	p = row_put_thread(p, process, thread);
	p = put(p, ": ");
	p = row_put_text(p, name, THREAD_NAME_BYTES);
	p = put(p, " (");
	p = number_put(p, tid);
	p = put(p, ")");
	if (look->id) {
		p = put(p, ", IDs ");
		p = callid_put_thread(p, process, thread);
		*p++ = 'N';
	}
	*p++ = '\n';
	return (uint64_t)(p - out);
}

uint64_t row_stop_note(char *out)
{
	return (uint64_t)(put(out,
			      "# *: gdb stopped the program meanwhile; the "
			      "duration includes what that took\n") -
			  out);
}

uint64_t row_stops_note(char *out)
{
	return (uint64_t)(put(out, "# *: gdb stopped the program in such a "
				   "call; the "
				   "time includes what that took\n") -
			  out);
}

uint64_t row_mixed_note(char *out)
{
	return (uint64_t)(put(out, ROW_MIXED_NOTE "\n") - out);
}

/* ---- heading ------------------------------------------------------------- */

uint64_t row_titles(const struct cst_look *look, const struct row_cell *cell,
		    const char *calls_title, char *out)
{
	char *p = put(out, "#");

	/* The '#' stands in the first column's first place. */
	if (look->timestamp == CST_TIME_WALL)
		p = put(p, "    WALL CLOCK  ");
	else if (look->timestamp)
		p = put(p, "     START  ");
	if (look->duration)
		p = put(p, look->timestamp ? "  DURATION  " : " DURATION  ");
	else if (!look->timestamp)
		*p++ = ' ';
	if (cell->width) {
		const char *title = look->id		? "ID"
				    : cell->has_threads ? "T"
							: "";

		p = fill(put(p, title), (unsigned)strlen(title), cell->width);
		p = put(p, "  ");
	}
	p = put(p, calls_title);
	*p++ = '\n';
	return (uint64_t)(p - out);
}

uint64_t row_heading(const struct cst_look *look, const struct row_cell *cell,
		     int is_folded, char *out)
{
	char *p = put(out, is_folded ? "# Equal calls are one row (x3), each "
				       "below and right of its caller\n"
				     : "# One row a call, in order of entry, "
				       "each below and right of its caller\n");

	p += row_titles(look, cell, look->callsite ? "CALL  (FROM)" : "CALL",
			p);
	return (uint64_t)(p - out);
}
