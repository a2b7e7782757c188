/* SPDX-License-Identifier: MIT
 *
 * A line is a call, or a word about calls; what is indented below it, it
 * calls.  Two blanks stand between a name and what follows it: names of C++
 * have single ones.
 */
#include "golden/golden.h"
#include "base/array.h"
#include "golden/golden_options.h"
#include "golden/golden_rows.h"
#include "trace/loader.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* An open line: what is indented deeper is below it. */
struct level {
	uint32_t indent, item;
	uint32_t last, n; /* its last child, or GOLDEN_NONE; how many */
	uint32_t below;	  /* its children's indentation */
	int has_children;
};

struct parser {
	struct golden *g;
	struct cst_error *err;
	uint32_t line;
	struct level levels[GOLDEN_MOST_LEVELS];
	uint32_t n_levels; /* levels[0] is the section's root */
	int is_in_options; /* the lines so far are "options:" and those below */
};

void golden_release(struct golden *g)
{
	for (uint32_t i = 0; i < g->n_patterns; i++) {
		free(g->patterns[i].text);
		free(g->patterns[i].site);
		regex_free(g->patterns[i].regex);
	}
	for (uint32_t i = 0; i < g->n_sections; i++)
		free(g->sections[i].threads);
	golden_options_release(&g->options);
	free(g->items);
	free(g->nevers);
	free(g->patterns);
	free(g->sections);
	*g = (struct golden){0};
}

int golden_glob(const char *glob, const char *text)
{
	const char *star = NULL, *again = NULL;

	while (*text) {
		if (*glob == '*') {
			star = ++glob;
			again = text;
		} else if (*glob == *text) {
			glob++;
			text++;
		} else if (star) {
			glob = star;
			text = ++again;
		} else {
			return 0;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

int golden_matches(const struct golden_pattern *p, const char *name)
{
	return p->regex ? regex_matches(p->regex, name)
			: golden_glob(p->text, name);
}

__attribute__((format(printf, 2, 3))) static int bad(struct parser *p,
						     const char *format, ...)
{
	char why[300];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return cst_fail(CST_BAD_INPUT, p->err, "%.150s:%u: %s", p->g->path,
			p->line, why);
}

/* ---- what a line is made of --------------------------------------------- */

/* "3", "2..5", "2..", "*", "+": what stands behind the x. */
static int parse_count(const char *text, uint32_t *min, uint32_t *max)
{
	char *end;

	*min = *text == '+';
	*max = GOLDEN_MANY;
	if ((*text == '*' || *text == '+') && !text[1])
		return 1;
	if (!isdigit((unsigned char)*text) || strlen(text) > 20)
		return 0;
	*min = *max = (uint32_t)strtoul(text, &end, 10);
	if (!strncmp(end, "..", 2)) {
		end += 2;
		*max = GOLDEN_MANY;
		if (isdigit((unsigned char)*end))
			*max = (uint32_t)strtoul(end, &end, 10);
	}
	return !*end && *min <= *max;
}

/* Cut the next field off: up to two blanks. NULL: there is none. */
static char *next_field(char **text)
{
	char *begin = *text, *end;

	while (*begin == ' ' || *begin == '\t')
		begin++;
	if (!*begin)
		return NULL;
	end = begin;
	while (*end && *end != '\t' && !(end[0] == ' ' && end[1] == ' '))
		end++;
	*text = *end ? end + 1 : end;
	*end = '\0';
	return begin;
}

static int is_count(const char *text)
{
	return *text == 'x' && text[1] &&
	       !text[1 + strspn(text + 1, "0123456789.*+")];
}

static int take_count(struct parser *p, const char *text,
		      struct golden_item *item)
{
	if (parse_count(text + 1, &item->min, &item->max))
		return 0;
	return bad(p, "'%.30s' is no count: write x3, x2..5, x2.., x* or x+",
		   text);
}

static int parse_field(struct parser *p, char *field, struct golden_item *item,
		       char **site)
{
	if (is_count(field))
		return take_count(p, field, item);
	if (!strcmp(field, "(unwound)")) {
		item->end = CALL_UNWOUND;
	} else if (!strcmp(field, "(open)")) {
		item->end = CALL_OPEN;
	} else if (*field == '(' || *site) {
		return bad(p,
			   "what is '%.100s'?  (after a call's name: x3, "
			   "file.c:12, (unwound), (open), or # and a "
			   "comment)",
			   field);
	} else {
		*site = field;
	}
	return 0;
}

static int add_pattern(struct parser *p, char *name, const char *site,
		       uint32_t *out)
{
	struct golden *g = p->g;
	struct golden_pattern new = {0};
	size_t len = strlen(name);
	struct cst_error why;
	int status;

	if (array_room(&g->patterns, &g->cap_patterns, g->n_patterns + 1ull) <
	    0)
		return cst_fail_memory(p->err);
	if (len > 1 && name[0] == '/' && name[len - 1] == '/') {
		name[len - 1] = '\0';
		status = regex_compile(&new.regex, ++name, &why);
		if (status == CST_MEMORY)
			return cst_fail_memory(p->err);
		if (status < 0)
			return bad(p, "%s", why.text);
	}
	new.text = strdup(name);
	new.site = site ? strdup(site) : NULL;
	*out = g->n_patterns;
	g->patterns[g->n_patterns++] = new;
	return new.text && (!site || new.site) ? 0 : cst_fail_memory(p->err);
}

/* ---- where it belongs ---------------------------------------------------- */

static int add_item(struct parser *p, const struct golden_item *item,
		    uint32_t *out)
{
	struct golden *g = p->g;

	if (array_room(&g->items, &g->cap_items, g->n_items + 1ull) < 0)
		return cst_fail_memory(p->err);
	*out = g->n_items;
	g->items[g->n_items++] = *item;
	return 0;
}

static struct golden_item new_item(const struct parser *p,
				   enum golden_kind kind)
{
	return (struct golden_item){.kind = kind,
				    .line = p->line,
				    .min = 1,
				    .max = 1,
				    .end = -1,
				    .first = GOLDEN_NONE,
				    .next = GOLDEN_NONE,
				    .never = GOLDEN_NONE};
}

static int begin_section(struct parser *p, char *threads, uint32_t process,
			 uint32_t thread, uint32_t line)
{
	struct golden *g = p->g;
	struct golden_item root = new_item(p, ITEM_ROOT);
	uint32_t item;

	if (array_room(&g->sections, &g->cap_sections, g->n_sections + 1ull) <
		    0 ||
	    add_item(p, &root, &item) < 0) {
		free(threads);
		return cst_fail_memory(p->err);
	}
	g->sections[g->n_sections++] = (struct golden_section){
		.threads = threads,
		.process = process,
		.thread = thread,
		.root = item,
		.line = line,
		.is_one = threads && !strcmp(threads, "?"),
	};
	p->levels[0] = (struct level){.item = item, .last = GOLDEN_NONE};
	p->n_levels = 1;
	return 0;
}

/* "2", "2:1" (the first thread of the second process), "?", or a glob. */
static int parse_section(struct parser *p, char *text)
{
	unsigned process = 1, thread = 0;
	char *name;
	int len = 0;

	text[strlen(text) - 1] = '\0';
	while (*text == ' ')
		text++;
	if (!*text)
		return bad(p, "which thread?  As in: thread 1:, thread *:");
	if (sscanf(text, "%9u%n", &thread, &len) == 1 && text[len] == ':') {
		process = thread;
		text += len + 1;
		len = 0;
		thread = 0;
	}
	if (sscanf(text, "%9u%n", &thread, &len) == 1 && !text[len])
		return begin_section(p, NULL, process, thread, p->line);
	name = strdup(text);
	return name ? begin_section(p, name, 0, 0, p->line)
		    : cst_fail_memory(p->err);
}

/* Close the levels that a line with this indentation ends; the level on top is
 * then what it belongs below. */
static int find_level(struct parser *p, uint32_t indent)
{
	struct level *above;

	if (!p->g->n_sections && begin_section(p, NULL, 1, 1, 0) < 0)
		return CST_MEMORY;
	while (p->n_levels > 1 && p->levels[p->n_levels - 1].indent >= indent)
		p->n_levels--;
	above = &p->levels[p->n_levels - 1];
	if (above->has_children && above->below != indent)
		return bad(p, "its indentation is that of no line above");
	if (p->n_levels == GOLDEN_MOST_LEVELS)
		return bad(p, "too deep");
	if (p->g->items[above->item].kind == ITEM_ANY)
		return bad(p, "nothing can be below '...'");
	above->has_children = 1;
	above->below = indent;
	return 0;
}

static int put_item(struct parser *p, uint32_t indent,
		    const struct golden_item *item)
{
	struct level *above = &p->levels[p->n_levels - 1];
	struct golden_item *items;
	uint32_t id;

	if (add_item(p, item, &id) < 0)
		return CST_MEMORY;
	items = p->g->items;
	if (items[above->item].kind == ITEM_GROUP) {
		if (item->kind == ITEM_GROUP)
			return bad(p, "a group in a group is no more than one");
		if (above->n++ == GOLDEN_GROUP)
			return bad(p, "more than %d lines in one group",
				   GOLDEN_GROUP);
	}
	if (above->last == GOLDEN_NONE)
		items[above->item].first = id;
	else
		items[above->last].next = id;
	above->last = id;
	p->levels[p->n_levels++] = (struct level){
		.indent = indent, .item = id, .last = GOLDEN_NONE};
	return 0;
}

/* "!name": for the call or the thread that it stands below. */
static int put_never(struct parser *p, char *text)
{
	struct golden *g = p->g;
	struct golden_item *above = &g->items[p->levels[p->n_levels - 1].item];
	struct golden_never never = {.line = p->line, .next = above->never};
	char *name = next_field(&text);
	int status;

	if (!name || next_field(&text))
		return bad(p, "after '!' comes a name and nothing else");
	if (above->kind == ITEM_GROUP)
		return bad(p, "'!' tells of all below a call: put it beside "
			      "'unordered:'");
	if (array_room(&g->nevers, &g->cap_nevers, g->n_nevers + 1ull) < 0)
		return cst_fail_memory(p->err);
	status = add_pattern(p, name, NULL, &never.pattern);
	if (status < 0)
		return status;
	above->never = g->n_nevers;
	g->nevers[g->n_nevers++] = never;
	return 0;
}

/* "leaf x3": a count may follow the name behind a single blank. */
static int split_count(struct parser *p, char *name, struct golden_item *item)
{
	char *blank = strrchr(name, ' ');

	if (*name == '/' || !blank || !is_count(blank + 1))
		return 0;
	*blank = '\0';
	return take_count(p, blank + 1, item);
}

static int put_call(struct parser *p, uint32_t indent, char *text)
{
	struct golden_item item = new_item(p, ITEM_CALL);
	char *name = next_field(&text), *site = NULL, *field;
	int status;

	/* "   0.000012" */
	if (strspn(name, "0123456789.") == strlen(name) && strchr(name, '.'))
		return bad(p, "this tree has times, and not its two heading "
			      "lines, which tell the columns");
	status = split_count(p, name, &item);
	while (status == 0 && (field = next_field(&text)))
		status = parse_field(p, field, &item, &site);
	if (status == 0)
		status = add_pattern(p, name, site, &item.pattern);
	return status < 0 ? status : put_item(p, indent, &item);
}

/* ---- lines --------------------------------------------------------------- */

/* Without its comment and the blanks at its end. */
static void strip(char *text)
{
	size_t len;

	for (char *p = text; *p; p++)
		if (*p == '#' &&
		    (p == text || p[-1] == '\t' ||
		     (p - text > 1 && p[-1] == ' ' && p[-2] == ' '))) {
			*p = '\0';
			break;
		}
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
}

static uint32_t take_indent(char **text)
{
	uint32_t indent = 0;
	char *p = *text;

	for (; *p == ' ' || *p == '\t'; p++)
		indent = *p == '\t' ? indent / 8 * 8 + 8 : indent + 1;
	*text = p;
	return indent;
}

/* Options stand above all else.  1: the line was one of theirs. */
static int parse_option(struct parser *p, uint32_t indent, char *text)
{
	struct cst_error why;
	size_t len = strlen(text);
	int status;

	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	if (!len || *text == '#')
		return 1;
	if (!indent && !p->g->n_items && !strcmp(text, "options:"))
		return p->is_in_options = 1;
	p->is_in_options &= indent > 0;
	if (!p->is_in_options)
		return 0;
	status = golden_option_parse(&p->g->options, text, &why);
	return status < 0 ? bad(p, "%s", why.text) : 1;
}

/* "[57] f": so deep that rows tell it by a number. */
static uint32_t take_depth(uint32_t indent, char **text)
{
	size_t n = **text == '[' ? strspn(*text + 1, "0123456789") : 0;

	if (!n || n > 6 || strncmp(*text + 1 + n, "] ", 2) != 0)
		return indent;
	indent = (uint32_t)strtoul(*text + 1, NULL, 10) * 2;
	*text += n + 3;
	return indent;
}

static int parse_line(struct parser *p, char *text)
{
	struct golden_item any = new_item(p, ITEM_ANY);
	struct golden_item group = new_item(p, ITEM_GROUP);
	uint32_t indent = take_indent(&text);
	size_t len;
	int status = parse_option(p, indent, text);

	if (status)
		return status < 0 ? status : 0;
	indent = take_depth(indent, &text);
	strip(text);
	len = strlen(text);
	if (!len)
		return 0;
	if (!strncmp(text, "thread ", 7) && text[len - 1] == ':')
		return parse_section(p, text + 7);
	status = find_level(p, indent);
	if (status < 0)
		return status;
	any.min = 0;
	any.max = GOLDEN_MANY;
	if (!strcmp(text, "..."))
		return put_item(p, indent, &any);
	if (!strcmp(text, "unordered:"))
		return put_item(p, indent, &group);
	if (*text == '!')
		return put_never(p, text + 1);
	return put_call(p, indent, text);
}

/* lines: the number of each in the file; NULL: as they come. */
static int parse_all(struct golden *g, char *text, const uint32_t *lines,
		     struct cst_error *err)
{
	auto_free struct parser *p = calloc(1, sizeof(*p));
	int status = 0;

	if (!p)
		return cst_fail_memory(err);
	p->g = g;
	p->err = err;
	for (uint32_t i = 0; text && status == 0; i++) {
		char *end = strchr(text, '\n');

		if (end)
			*end++ = '\0';
		p->line = lines && *text ? lines[i] : i + 1;
		status = parse_line(p, text);
		text = end;
	}
	if (status == 0 && !g->n_items)
		return cst_fail(CST_BAD_INPUT, err,
				"%.300s: there is no call in it", g->path);
	return status;
}

int golden_parse(struct golden *g, const char *path, char *text,
		 struct cst_error *err)
{
	struct golden_rows rows;
	uint32_t line;
	int status;

	*g = (struct golden){.path = path};
	if (golden_rows_are_folded(text))
		return cst_fail(CST_BAD_INPUT, err,
				"%.300s:1: its rows are folded: save the tree "
				"without --fold",
				path);
	if (!golden_rows_are(text))
		return parse_all(g, text, NULL, err);
	status = golden_rows_convert(&rows, text, &line);
	if (status == CST_MEMORY)
		return cst_fail_memory(err);
	if (status < 0)
		return cst_fail(CST_BAD_INPUT, err,
				"%.300s:%u: this is no row of a saved tree",
				path, line);
	if (rows.is_mixed)
		status = cst_fail(CST_BAD_INPUT, err,
				  "'%.300s' has rows of several threads, which "
				  "it does not tell apart: save it without "
				  "no-thread, or with id",
				  path);
	else
		status = parse_all(g, (char *)rows.text.data, rows.lines, err);
	golden_rows_release(&rows);
	return status;
}

int golden_read(struct golden *g, const char *path, struct cst_error *err)
{
	auto_close int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	auto_free char *text = NULL;
	struct stat st;
	ssize_t n = 0;
	size_t len = 0;

	*g = (struct golden){0};
	if (fd < 0 || fstat(fd, &st) < 0)
		return cst_fail_sys(err, "cannot open '%.300s'", path);
	if (!S_ISREG(st.st_mode) || st.st_size > GOLDEN_MOST_BYTES)
		return cst_fail(CST_BAD_INPUT, err,
				"'%.300s' is no golden tree: %s", path,
				S_ISREG(st.st_mode) ? "it is too large"
						    : "it is no file");
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return cst_fail_memory(err);
	while (len < (size_t)st.st_size &&
	       (n = read(fd, text + len, (size_t)st.st_size - len)) > 0)
		len += (size_t)n;
	if (n < 0)
		return cst_fail_sys(err, "cannot read '%.300s'", path);
	text[len] = '\0';
	if (strlen(text) != len)
		return cst_fail(CST_BAD_INPUT, err,
				"'%.300s' is no golden tree: it is no text",
				path);
	return golden_parse(g, path, text, err);
}
