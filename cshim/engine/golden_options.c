/* SPDX-License-Identifier: MIT
 *
 * The options in a golden tree, a line each, in the words of the command line:
 *
 *	options:
 *	  depth 3
 *	  filter ^parse_
 */
#include "bytes.h"
#include "golden.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void golden_options_release(struct golden_options *o)
{
	free(o->filter);
	free(o->exclude);
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
	if (!strcmp(name, "filter") && *value)
		return parse_text(&o->filter, value, err);
	if (!strcmp(name, "exclude") && *value)
		return parse_text(&o->exclude, value, err);
	is_good = !strcmp(name, "depth")      ? parse_number(&o->depth, value)
		  : !strcmp(name, "min-time") ? parse_time(&o->min_ns, value)
		  : !strcmp(name, "thread")   ? parse_thread(o, value)
		  : !strcmp(name, "std")      ? (o->std = !*value)
					      : 0;
	if (is_good)
		return 0;
	return cst_fail(CST_BAD_INPUT, err,
			"'%.60s' is no option of a golden tree: write depth N, "
			"filter REGEX, exclude REGEX, min-time T, thread N or "
			"std",
			line);
}

void golden_options_put(const struct cst_choice *choice, struct bytes *out)
{
	struct bytes lines = {0};

	if (choice->depth)
		bytes_put_format(&lines, "  depth %" PRIu32 "\n",
				 choice->depth);
	if (choice->filter) {
		bytes_put_format(&lines, "  filter ");
		bytes_put(&lines, choice->filter, strlen(choice->filter));
		bytes_put_byte(&lines, '\n');
	}
	if (choice->exclude) {
		bytes_put_format(&lines, "  exclude ");
		bytes_put(&lines, choice->exclude, strlen(choice->exclude));
		bytes_put_byte(&lines, '\n');
	}
	if (choice->min_ns)
		bytes_put_format(&lines, "  min-time %" PRIu64 "ns\n",
				 choice->min_ns);
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
	if (!choice->filter)
		choice->filter = o->filter;
	if (!choice->exclude)
		choice->exclude = o->exclude;
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
