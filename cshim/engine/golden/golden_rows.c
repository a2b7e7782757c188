/* SPDX-License-Identifier: MIT
 *
 * A saved text tree as a golden tree: its two heading lines tell the columns,
 * which are taken off; each thread's rows, which may lie between those of
 * others, become a section.
 */
#include "golden/golden_rows.h"
#include "base/array.h"
#include "base/text.h"
#include "golden/golden.h"
#include "rows/row.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char first_line[] = "# One row a call";
static const char folded_line[] = "# Equal calls are one row";

struct columns {
	int has_time, has_duration, has_thread, has_id;
	size_t call; /* where the tree begins */
	int is_known;
};

/* The rows of one thread so far. */
struct section {
	uint32_t process, thread; /* ordinals */
	struct bytes text;
	uint32_t *lines;
	uint32_t n, cap;
};

struct converter {
	struct columns columns;
	struct section *all;
	uint32_t n, cap;
};

int golden_rows_are(const char *text)
{
	return text_begins(text, first_line);
}

int golden_rows_are_folded(const char *text)
{
	return text_begins(text, folded_line);
}

static const char *next_word(const char **p, size_t *len)
{
	const char *begin = *p + strspn(*p, " ");

	*len = strcspn(begin, " ");
	*p = begin + *len;
	return begin;
}

/* "#     START    DURATION  T   ID   CALL  (FROM)", or without times, where
 * rows begin further to the left: "# T   CALL  (FROM)". */
static void take_columns(struct columns *c, const char *line)
{
	const char *p = line + 1, *word, *first = NULL;
	size_t len;

	while (*(word = next_word(&p, &len)) && strncmp(word, "CALL", 4) != 0) {
		if (!first)
			first = word;
		c->has_time |= !strncmp(word, "START", len) ||
			       !strncmp(word, "WALL", len);
		c->has_duration |= len == 8 && !strncmp(word, "DURATION", len);
		c->has_thread |= len == 1 && *word == 'T';
		c->has_id |= len == 2 && !strncmp(word, "ID", len);
	}
	if (!*word)
		return;
	c->call = (size_t)(word - line);
	if (!c->has_time && !c->has_duration)
		c->call -= (size_t)((first ? first : word) - line);
	c->is_known = 1;
}

/* "t2", or "p2:t1". */
static int take_tag(const char **p, uint32_t *process, uint32_t *thread)
{
	size_t len;
	const char *tag = next_word(p, &len);
	int end = 0;

	*process = 1;
	if (sscanf(tag, "p%9u:t%9u%n", process, thread, &end) == 2 ||
	    (*process = 1, sscanf(tag, "t%9u%n", thread, &end) == 1))
		return (size_t)end == len;
	return 0;
}

/* "2.42", or "2:1.s7": the thread that the call is of. */
static int take_id(const char **p, uint32_t *process, uint32_t *thread)
{
	size_t len;
	const char *id = next_word(p, &len);

	*process = 1;
	return sscanf(id, "%9u:%9u.", process, thread) == 2 ||
	       (*process = 1, sscanf(id, "%9u.", thread) == 1);
}

static int is_open(const char **p)
{
	size_t len;
	const char *word = next_word(p, &len);

	if (isdigit((unsigned char)*word)) /* "3.210 us" */
		next_word(p, &len);
	return !strncmp(word, "open", 4);
}

/* Returns the row's indentation, which need only be more than its caller's:
 * "[250] f" is deeper than blanks go. */
static uint32_t take_indent(const char **p)
{
	uint32_t indent = (uint32_t)strspn(*p, " "), n;
	int end = 0;

	*p += indent;
	if (sscanf(*p, "[%9u] %n", &n, &end) == 1 && end) {
		indent = n * 2;
		*p += end;
	}
	return indent;
}

static struct section *find_section(struct converter *c, uint32_t process,
				    uint32_t thread)
{
	struct section *s;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->all[i].process == process && c->all[i].thread == thread)
			return &c->all[i];
	if (array_room(&c->all, &c->cap, c->n + 1ull) < 0)
		return NULL;
	s = &c->all[c->n++];
	*s = (struct section){.process = process, .thread = thread};
	return s;
}

static int put_line(struct section *s, uint32_t line, uint32_t indent,
		    const char *text, int open)
{
	if (array_room(&s->lines, &s->cap, s->n + 1ull) < 0)
		return CST_MEMORY;
	s->lines[s->n++] = line;
	for (uint32_t i = 0; i < indent; i++)
		bytes_put_byte(&s->text, ' ');
	bytes_put(&s->text, text, strlen(text));
	if (open)
		bytes_put(&s->text, "  (open)", 8);
	bytes_put_byte(&s->text, '\n');
	return s->text.failed ? CST_MEMORY : 0;
}

/* Behind a text in quotes, or behind the one character at p. */
static const char *skip_quoted(const char *p)
{
	char quote = *p++;

	if (quote != '"' && quote != '\'')
		return p;
	for (; *p && *p != quote; p++)
		p += *p == '\\' && p[1];
	return *p ? p + 1 : p;
}

/* Behind a value, or behind the brackets around some: where `end` stands in no
 * other brackets. */
static const char *skip_values(const char *p, const char *end)
{
	int depth = 0;

	while (*p && (depth || strncmp(p, end, strlen(end)) != 0)) {
		depth += *p == '(' || *p == '{' || *p == '[';
		depth -= *p == ')' || *p == '}' || *p == ']';
		p = skip_quoted(p);
	}
	return p;
}

/* Does "s=..." stand there?  A function's parameters have no such thing. */
static int is_named_value(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n && p[n] == '=' && p[n + 1] != '=';
}

/* Takes the values of a call off its row: `f(n=3) = 7  a.c:5` is `f  a.c:5`. Of
 * a message nothing is compared, nor where it comes from: another run may say
 * something else. */
static void take_values_off(char *row)
{
	static const char *const said[] = {"log: ", "zoom: ", "backtrace: "};
	char *p = row;
	const char *rest;

	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		size_t n = strlen(said[i]);

		if (!strncmp(row, said[i], n) && row[n]) {
			strcpy(row + n, "*");
			return;
		}
	}
	while (*p && strncmp(p, "  ", 2) != 0 && strncmp(p, " = ", 3) != 0 &&
	       !(*p == '(' && is_named_value(p + 1)))
		p++;
	rest = p;
	if (*rest == '(') {
		rest = skip_values(rest + 1, ")");
		rest += *rest == ')';
	}
	if (!strncmp(rest, " = ", 3))
		rest = skip_values(rest + 3, "  ");
	memmove(p, rest, strlen(rest) + 1);
}

/* line has no newline.  0, CST_MEMORY, or CST_BAD_INPUT: it is no row. */
static int take_row(struct converter *c, char *line, uint32_t number)
{
	const struct columns *columns = &c->columns;
	uint32_t process = 1, thread = 1, indent;
	const char *p = line;
	struct section *s;
	size_t len;
	int open = 0;

	if (columns->has_time)
		next_word(&p, &len);
	if (columns->has_duration)
		open = is_open(&p);
	if (columns->has_thread && !take_tag(&p, &process, &thread))
		return CST_BAD_INPUT;
	if (columns->has_id && !take_id(&p, &process, &thread))
		return CST_BAD_INPUT;
	/* A value that is too wide for its column moves the tree. */
	len = (size_t)(p - line);
	if (!len || len < columns->call)
		len = strnlen(line, columns->call);
	else
		len += strspn(line + len, " ") < 2 ? strspn(line + len, " ")
						   : 2;
	p = line + len;
	indent = take_indent(&p);
	take_values_off(line + (p - line));
	if (!*p || indent > 2 * GOLDEN_MOST_LEVELS)
		return CST_BAD_INPUT;
	s = find_section(c, process, thread);
	if (s && s->text.len > GOLDEN_MOST_BYTES)
		return CST_BAD_INPUT;
	return s ? put_line(s, number, indent, p, open) : CST_MEMORY;
}

/* Threads are numbered as they come: which of several is the first to make a
 * call can be another in each run. */
static int is_one_of_many(const struct converter *c, const struct section *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += c->all[i].process == 1 && c->all[i].thread > 1;
	return n > 1 && s->process == 1 && s->thread > 1;
}

static int put_sections(struct converter *c, struct golden_rows *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += c->all[i].n + 1;
	out->lines = malloc((n + 1ull) * sizeof(*out->lines));
	if (!out->lines)
		return CST_MEMORY;
	for (uint32_t i = 0; i < c->n; i++) {
		struct section *s = &c->all[i];

		out->lines[out->n_lines++] = s->lines[0];
		if (is_one_of_many(c, s))
			bytes_put_format(&out->text, "thread ?:\n");
		else
			bytes_put_format(&out->text, "thread %u:%u:\n",
					 s->process, s->thread);
		bytes_put(&out->text, s->text.data, s->text.len);
		memcpy(out->lines + out->n_lines, s->lines,
		       s->n * sizeof(*s->lines));
		out->n_lines += s->n;
	}
	bytes_put_byte(&out->text, '\0');
	return out->text.failed ? CST_MEMORY : 0;
}

static void converter_release(struct converter *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		bytes_release(&c->all[i].text);
		free(c->all[i].lines);
	}
	free(c->all);
}

int golden_rows_convert(struct golden_rows *out, char *text, uint32_t *bad_line)
{
	struct converter c = {0};
	int status = 0;

	*out = (struct golden_rows){0};
	*bad_line = 0;
	for (char *end; text && *text && status == 0; text = end) {
		size_t len = strcspn(text, "\n");

		end = text[len] ? text + len + 1 : text + len;
		text[len] = '\0';
		++*bad_line;
		if (len && text[len - 1] == '\r')
			text[--len] = '\0';
		if (!strcmp(text, ROW_MIXED_NOTE))
			out->is_mixed = 1;
		if (*text == '#' && !c.columns.is_known)
			take_columns(&c.columns, text);
		if (!len || *text == '#')
			continue;
		status = c.columns.is_known ? take_row(&c, text, *bad_line)
					    : CST_BAD_INPUT;
	}
	if (status == 0)
		status = put_sections(&c, out);
	converter_release(&c);
	if (status < 0)
		golden_rows_release(out);
	return status;
}

void golden_rows_release(struct golden_rows *r)
{
	bytes_release(&r->text);
	free(r->lines);
	*r = (struct golden_rows){0};
}
