/* SPDX-License-Identifier: MIT
 *
 *    0.000012    3.210 us  [worker 1234]    parse(char const*)  app.c:42
 *
 * Columns of fixed width first, so that they align; the call site right
 * behind the name, so that rows stay narrow.
 */
#include "row.h"
#include "number.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	NAME_MAX_BYTES = 4000,
	FILE_MAX_BYTES = 1000,
	THREAD_WIDTH = 18,
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

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "HH:MM:" changes once a minute only; localtime is dear. */
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

	if (row->names->functions[site->function].exception) {
		out = put_spaces(out, NUMBER_DURATION - 1);
		return put(out, "-");
	}
	if (row->kind != ROW_OPEN)
		return number_put_duration(out, row->duration_ns);
	out = put_spaces(out, NUMBER_DURATION - (unsigned)strlen("open"));
	return put(out, "open");
}

static char *put_thread(const struct row *row, const struct cst_look *look,
			char *out)
{
	unsigned width = row->thread_width ? row->thread_width : THREAD_WIDTH;
	char *begin;

	if (look->color) {
		out = put(out, "\033[3");
		*out++ = (char)('1' + row->thread_color % 6);
		*out++ = 'm';
	}
	begin = out;
	*out++ = '[';
	out = row_put_text(out, row->thread_name, 80);
	*out++ = ' ';
	out = number_put(out, row->tid);
	*out++ = ']';
	if (width < 120 && out - begin < (long)width)
		out = put_spaces(out, width - (unsigned)(out - begin));
	if (look->color)
		out = put(out, RESET);
	return put(out, "  ");
}

static char *put_tree(uint32_t depth, char *out)
{
	if (depth <= ROW_LEVELS)
		return put_spaces(out, depth * 2);
	out = put_spaces(out, ROW_LEVELS * 2);
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
		memcpy(out, "  ", 2);
		out += 2;
	}
	if (is_dim)
		out = put(out, RESET);
	if (row->thread_name)
		out = put_thread(row, look, out);
	return put_tree(row->depth, out);
}

static char *put_site(const struct call_site *site, const struct cst_look *look,
		      char *out)
{
	out = put(out, look->color ? "  " DIM : "  ");
	out = row_put_text(out, base_name(site->file), FILE_MAX_BYTES);
	if (site->line) {
		*out++ = ':';
		out = number_put(out, site->line);
	}
	return look->color ? put(out, RESET) : out;
}

char *row_put_suffix(const struct row *row, const struct cst_look *look,
		     char *out)
{
	const struct call_site *site = &row->names->sites[row->site];

	if (row->kind == ROW_CLOSE)
		out = put(out, "<- ");
	out = row_put_text(out, row->names->functions[site->function].name,
			   NAME_MAX_BYTES);
	if (row->n_folded > 1) {
		out = put(out, "  x");
		out = number_put(out, row->n_folded);
	}
	if (look->callsite && site->file && row->kind != ROW_CLOSE)
		out = put_site(site, look, out);
	if (row->is_unwound)
		out = put(out, "  (unwound)");
	*out++ = '\n';
	return out;
}

uint64_t row_format(const struct row *row, const struct cst_look *look,
		    char *out)
{
	char *p = row_put_prefix(row, look, out);

	p = row_put_suffix(row, look, p);
	return (uint64_t)(p - out);
}

uint64_t row_heading(const struct cst_look *look, int has_threads, char *out)
{
	char *p = put(out, "# One row a call, in order of entry, each below "
			   "and right of its caller\n#");

	/* The '#' stands in the first column's first place. */
	if (look->timestamp == CST_TIME_WALL)
		p = put(p, "    WALL CLOCK  ");
	else if (look->timestamp)
		p = put(p, "     START  ");
	if (look->duration)
		p = put(p, look->timestamp ? "  DURATION  " : " DURATION  ");
	else if (!look->timestamp)
		*p++ = ' ';
	if (has_threads) {
		int width = has_threads > 1 ? has_threads : THREAD_WIDTH;

		p = put(p, "[THREAD]");
		if (width > 8 && width < 120)
			p = put_spaces(p, (unsigned)width - 8);
		p = put(p, "  ");
	}
	p = put(p, "CALL");
	if (look->callsite)
		p = put(p, "  (FROM)");
	*p++ = '\n';
	return (uint64_t)(p - out);
}
