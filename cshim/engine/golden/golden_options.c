/* SPDX-License-Identifier: MIT
 *
 * The options in a golden tree, a line each, in the words of the command line:
 *
 *	options:
 *	  depth 3
 *	  filter ^parse_
 */
#include "base/bytes.h"
#include "golden/golden.h"
#include "golden/golden_options.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a choice has the text of each. */
static const struct {
	const char *name;
	size_t offset;
} texts[GOLDEN_TEXTS] = {
	{"filter", offsetof(struct cst_choice, filter)},
	{"exclude", offsetof(struct cst_choice, exclude)},
	{"from", offsetof(struct cst_choice, from)},
	{"until", offsetof(struct cst_choice, until)},
	{"in", offsetof(struct cst_choice, file)},
	{"module", offsetof(struct cst_choice, module)},
	{"where", offsetof(struct cst_choice, where)},
};

static const char *text_of(const struct cst_choice *choice, int i)
{
	const char *text;

	memcpy(&text, (const char *)choice + texts[i].offset, sizeof(text));
	return text;
}

void golden_options_release(struct golden_options *o)
{
	for (int i = 0; i < GOLDEN_TEXTS; i++)
		free(o->texts[i]);
	*o = (struct golden_options){0};
}

static int parse_text(char **out, const char *value, struct cst_error *err)
{
	char *copy = strdup(value);

	if (!copy)
		return cst_fail_memory(err);
	free(*out);
	*out = copy;
	return 0;
}

/* "3", all of it. */
static int parse_number(uint32_t *out, const char *value)
{
	int end = 0;

	return sscanf(value, "%9" SCNu32 "%n", out, &end) == 1 && !value[end];
}

/* "1500ns", "10us", "1.5ms". */
static int parse_time(uint64_t *out, const char *value)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *unit;
	double n = strtod(value, &unit);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (unit != value && n >= 0 && !strcmp(unit, units[i].name) &&
		    n * units[i].ns < 1e18) {
			*out = (uint64_t)(n * units[i].ns + 0.5);
			return 1;
		}
	return 0;
}

/* "1.2s..1.4s", "20ms..", "..1.4"; a bare number is in seconds. */
static int parse_range(struct golden_options *o, const char *value)
{
	const char *dots = strstr(value, "..");
	uint64_t *const ends[] = {&o->range_from_ns, &o->range_until_ns};
	char text[64];

	if (!dots || !strcmp(value, "..") || strlen(value) > 60)
		return 0;
	for (int i = 0; i < 2; i++) {
		int n = i ? (int)strlen(dots + 2) : (int)(dots - value);
		const char *end = i ? dots + 2 : value;

		*ends[i] = 0;
		snprintf(text, sizeof(text), "%.*s%s", n, end,
			 n && isdigit((unsigned char)end[n - 1]) ? "s" : "");
		if (n && !parse_time(ends[i], text))
			return 0;
	}
	return !dots[2] || o->range_until_ns > o->range_from_ns;
}

/* "2", or "2:1" for the first thread of the second process. */
static int parse_thread(struct golden_options *o, const char *value)
{
	int end = 0;

	o->process = 0;
	if (sscanf(value, "%9" SCNu32 ":%9" SCNu32 "%n", &o->process,
		   &o->thread, &end) == 2 &&
	    !value[end])
		return 1;
	o->process = 0;
	return parse_number(&o->thread, value);
}

int golden_option_parse(struct golden_options *o, const char *line,
			struct cst_error *err)
{
	size_t len = strcspn(line, " \t");
	const char *value = line + len + strspn(line + len, " \t");
	char name[16];
	int is_good;

	snprintf(name, sizeof(name), "%.*s", (int)len, line);
	for (int i = 0; i < GOLDEN_TEXTS; i++)
		if (!strcmp(name, texts[i].name) && *value)
			return parse_text(&o->texts[i], value, err);
	is_good = !strcmp(name, "depth")      ? parse_number(&o->depth, value)
		  : !strcmp(name, "min-time") ? parse_time(&o->min_ns, value)
		  : !strcmp(name, "range")    ? parse_range(o, value)
		  : !strcmp(name, "thread")   ? parse_thread(o, value)
		  : !strcmp(name, "std")      ? (o->std = !*value)
					      : 0;
	if (is_good)
		return 0;
	return cst_fail(CST_BAD_INPUT, err,
			"'%.60s' is no option of a golden tree: write depth N, "
			"filter REGEX, exclude REGEX, from WHERE, until WHERE, "
			"in FILE, module M, min-time T, range A..B, thread N, "
			"where CONDITION or std",
			line);
}

static void put_range(const struct cst_choice *choice, struct bytes *out)
{
	bytes_put_format(out, "  range ");
	if (choice->range_from_ns)
		bytes_put_format(out, "%" PRIu64 "ns", choice->range_from_ns);
	bytes_put_format(out, "..");
	if (choice->range_until_ns)
		bytes_put_format(out, "%" PRIu64 "ns", choice->range_until_ns);
	bytes_put_byte(out, '\n');
}

void golden_options_put(const struct cst_choice *choice, struct bytes *out)
{
	struct bytes lines = {0};

	if (choice->depth)
		bytes_put_format(&lines, "  depth %" PRIu32 "\n",
				 choice->depth);
	for (int i = 0; i < GOLDEN_TEXTS; i++) {
		const char *text = text_of(choice, i);

		if (!text)
			continue;
		bytes_put_format(&lines, "  %s ", texts[i].name);
		bytes_put(&lines, text, strlen(text));
		bytes_put_byte(&lines, '\n');
	}
	if (choice->min_ns)
		bytes_put_format(&lines, "  min-time %" PRIu64 "ns\n",
				 choice->min_ns);
	if (choice->range_from_ns || choice->range_until_ns)
		put_range(choice, &lines);
	if (choice->thread && choice->process)
		bytes_put_format(&lines, "  thread %" PRIu32 ":%" PRIu32 "\n",
				 choice->process, choice->thread);
	else if (choice->thread)
		bytes_put_format(&lines, "  thread %" PRIu32 "\n",
				 choice->thread);
	if (choice->std)
		bytes_put_format(&lines, "  std\n");
	if (lines.len) {
		bytes_put_format(out, "options:\n");
		bytes_put(out, lines.data, lines.len);
		bytes_put_byte(out, '\n');
	}
	out->failed |= lines.failed;
	bytes_release(&lines);
}

void golden_options_apply(const struct golden_options *o,
			  struct cst_choice *choice)
{
	for (int i = 0; i < GOLDEN_TEXTS; i++)
		if (!text_of(choice, i))
			memcpy((char *)choice + texts[i].offset, &o->texts[i],
			       sizeof(o->texts[i]));
	if (!choice->range_from_ns && !choice->range_until_ns) {
		choice->range_from_ns = o->range_from_ns;
		choice->range_until_ns = o->range_until_ns;
	}
	if (!choice->min_ns)
		choice->min_ns = o->min_ns;
	if (!choice->depth)
		choice->depth = o->depth;
	if (!choice->thread) {
		choice->process = o->process;
		choice->thread = o->thread;
	}
	choice->std |= o->std != 0;
}
