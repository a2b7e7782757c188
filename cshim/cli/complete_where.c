/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Completes a condition on values: the functions of the trace, then the names
 * of their values.  Which field is of which argument only the values themselves
 * tell: behind a dot all of the function's names are offered.
 */
#include "complete_where.h"
#include "base/error.h"
#include "base/text.h"
#include "cstrace/engine.h"
#include "trace_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A condition up to the cursor: what is written, then "parse.ba". */
struct condition {
	const char *text;
	const char *path;  /* in text */
	const char *value; /* in path: behind its last dot; or NULL */
};

static struct condition condition_of(const char *text)
{
	struct condition c = {text, text + strlen(text), NULL};

	while (c.path > text && (isalnum((unsigned char)c.path[-1]) ||
				 strchr("_:~.", c.path[-1])))
		c.path--;
	c.value = strrchr(c.path, '.');
	c.value += c.value != NULL;
	return c;
}

static void offer(const struct condition *c, const char *function,
		  const char *value, const char *end)
{
	printf("%.*s%s%s%s%s\t\n", (int)(c->path - c->text), c->text, function,
	       *value ? "." : "", value, end);
}

/* Offers the values of a function that begin as written.  With one alone the
 * shell would end the quotes: the relations follow it. */
static void offer_values(const struct condition *c, const char *function,
			 char *names)
{
	static const char *const relations[] = {
		" ==", " !=", " <", " <=", " >", " >=", " =~"};
	const char *begun = c->value ? c->value : "", *last = NULL;
	int n = 0;

	for (char *name; (name = strsep(&names, ","));) {
		if (!*name || !text_begins(name, begun))
			continue;
		if (n++)
			offer(c, function, last, "");
		last = name;
	}
	if (n > 1)
		offer(c, function, last, "");
	for (size_t i = 0; n == 1 && i < sizeof(relations) / sizeof(*relations);
	     i++)
		offer(c, function, last, relations[i]);
}

static int is_meant(const struct condition *c, const char *function)
{
	size_t n = strlen(function);

	return c->value ? !strncmp(c->path, function, n) && c->path[n] == '.'
			: text_begins(function, c->path);
}

/* Offers the functions, or, of one that is written or alone, the values. */
static void offer_functions(const struct condition *c,
			    const struct cst_trace *t)
{
	const char *simple, *only = NULL;
	char *names, *values = NULL;
	int n = 0;

	for (uint32_t i = 0; (names = cst_trace_value_names(t, i, &simple));
	     i++) {
		if (is_meant(c, simple) && !(only && !strcmp(only, simple))) {
			if (n++)
				offer(c, only, "", "");
			only = simple;
			free(values);
			values = names;
		} else {
			free(names);
		}
	}
	if (n == 1)
		offer_values(c, only, values);
	else if (n)
		offer(c, only, "", "");
	free(values);
}

void complete_where(const char *text, char **words, int n_words)
{
	const struct condition c = condition_of(text);
	const char *path = trace_file_default;
	struct cst_trace *trace;
	struct cst_error err;

	for (int i = 1; i < n_words; i++)
		if (trace_file_is_meant(words[i]))
			path = words[i];
	if (!strcmp(path, "-") || cst_trace_load(path, &trace, &err) < 0)
		return;
	offer_functions(&c, trace);
	cst_trace_free(trace);
}
