/* SPDX-License-Identifier: MIT
 *
 * Walks the tree of a condition over the values of one call.
 */
#include "names/where.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "cstrace/layout.h"
#include "names/near.h"
#include "names/values_text.h"

#include <stdio.h>
#include <stdlib.h>

enum truth { NO = 0, YES = 1, UNKNOWN = 2 };

static const char RESULT[] = "result";

/* A call, as the tests look at it. */
struct subject {
	const struct function *f;
	const uint8_t *values;
	uint32_t n, n_result;
};

/* "order" and "Shop::order" are Shop::order(), "import" is the span of that
 * name. */
static int is_function(const struct function *f, const char *word)
{
	size_t n = strlen(word), all = strlen(f->qualified);

	return !strcmp(word, f->simple) || !strcmp(word, names_bare(f)) ||
	       !strcmp(word, f->qualified) ||
	       (all > n + 2 && !strcmp(f->qualified + all - n, word) &&
		!memcmp(f->qualified + all - n - 2, "::", 2));
}

/* ---- the value of a name --------------------------------------------------
 */

static int find_value(const struct subject *s, char *const *path,
		      uint32_t n_parts, struct value *out)
{
	struct value_list l;

	if (strcmp(path[0], RESULT) != 0)
		return value_find(value_list(s->values, s->n, s->f->values),
				  path, n_parts, out);
	l = value_list_of_result(s->values + s->n, s->n_result, s->f->values);
	return value_next(&l, out) && value_field(path + 1, n_parts - 1, out);
}

/* ---- comparisons ----------------------------------------------------------
 */

/* order: below, above or 0 as memcmp() has it. */
static enum truth compare_order(enum where_relation relation, int order)
{
	switch (relation) {
	case WHERE_EQUAL:
		return order == 0;
	case WHERE_UNEQUAL:
		return order != 0;
	case WHERE_LESS:
		return order < 0;
	case WHERE_LESS_EQUAL:
		return order <= 0;
	case WHERE_GREATER:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* What is no number is unequal to each, and neither below nor above it. */
static enum truth compare_numbers(enum where_relation relation, long double a,
				  long double b)
{
	if (a != a || b != b)
		return relation == WHERE_UNEQUAL;
	return compare_order(relation, a < b ? -1 : a > b);
}

/* A text that is cut is compared as far as it goes. */
static enum truth compare_text(const struct where_test *t,
			       const struct value *v)
{
	size_t n, size = v->size;
	int order;

	if (t->is_null && v->kind != CST_VALUE_NAME)
		return t->relation == WHERE_UNEQUAL;
	if (!t->text)
		return UNKNOWN;
	n = strlen(t->text);
	if (v->kind == CST_VALUE_CUT_TEXT && n > size)
		n = size;
	order = memcmp(v->text, t->text, n < size ? n : size);
	if (!order && v->kind == CST_VALUE_CUT_TEXT && n == strlen(t->text))
		order = 1; /* there is more of it */
	else if (!order)
		order = size < n ? -1 : size > n;
	return compare_order(t->relation, order);
}

static enum truth compare_null(const struct where_test *t)
{
	if (t->is_null || (t->has_number && t->number == 0))
		return compare_order(t->relation, 0);
	return t->text ? (enum truth)(t->relation == WHERE_UNEQUAL) : UNKNOWN;
}

static enum truth compare_number(const struct where_test *t,
				 const struct value *v)
{
	long double number = t->number;

	if (v->kind == CST_VALUE_CHAR && !t->has_number && t->text &&
	    *t->text && !t->text[1])
		number = (uint8_t)*t->text;
	else if (!t->has_number)
		return UNKNOWN;
	return compare_numbers(t->relation,
			       v->kind == CST_VALUE_FLOAT ? v->f
			       : v->kind == CST_VALUE_INT ? (long double)v->i
							  : (long double)v->u,
			       number);
}

/* A regex looks at what a row shows, but for the quotes of a text. */
static enum truth compare_regex(const struct where_test *t,
				const struct value *v)
{
	char text[VALUES_ROOM];
	size_t n = v->size < sizeof(text) ? v->size : sizeof(text) - 1;

	if (value_is_text(v)) {
		memcpy(text, v->text, n);
		text[n] = '\0';
	} else {
		*value_put(text, v) = '\0';
	}
	return regex_matches(t->regex, text) ? YES : NO;
}

static enum truth compare(const struct where_test *t, const struct value *v)
{
	if (v->kind == CST_VALUE_BAD || v->kind == CST_VALUE_GONE)
		return UNKNOWN;
	if (t->regex)
		return compare_regex(t, v);
	switch (v->kind) {
	case CST_VALUE_STRUCT:
	case CST_VALUE_ARRAY:
		return UNKNOWN;
	case CST_VALUE_TEXT:
	case CST_VALUE_CUT_TEXT:
	case CST_VALUE_NAME:
		return compare_text(t, v);
	case CST_VALUE_NULL:
		return compare_null(t);
	default:
		return compare_number(t, v);
	}
}

static enum truth test_holds(const struct where_test *t,
			     const struct subject *s)
{
	struct value v;

	if (t->n_parts > 1 && is_function(s->f, t->path[0]) &&
	    find_value(s, t->path + 1, t->n_parts - 1, &v))
		return compare(t, &v);
	return find_value(s, t->path, t->n_parts, &v) ? compare(t, &v)
						      : UNKNOWN;
}

/* No deeper than the text has brackets, or else along a chain of `&&`. */
static enum truth node_holds(const struct where *w, uint32_t number,
			     const struct subject *s)
{
	const struct where_node *node = &w->nodes[number];
	enum truth a, b, decides = node->kind == WHERE_OR ? YES : NO;

	if (node->kind == WHERE_TEST)
		return test_holds(&w->tests[node->a], s);
	a = node_holds(w, node->a, s);
	if (node->kind == WHERE_NOT)
		return a == UNKNOWN ? UNKNOWN : !a;
	if (a == decides)
		return a;
	b = node_holds(w, node->b, s);
	return b == decides || a != UNKNOWN ? b : UNKNOWN;
}

int where_holds(const struct where *w, const struct function *f,
		const uint8_t *values, uint32_t n, uint32_t n_result)
{
	const struct subject s = {f, values, n, n_result};

	return node_holds(w, w->root, &s) == YES;
}

/* ---- names that nothing has -----------------------------------------------
 */

/* Steps to the next of names with commas between.  Returns its length; 0 at the
 * end. */
static size_t next_name(const char **p)
{
	*p += strspn(*p, ",");
	return strcspn(*p, ",");
}

static int has_value(const struct function *f, const char *name)
{
	const char *p = f->values ? f->values : "";

	for (size_t n; (n = next_name(&p)) > 0; p += n)
		if (n == strlen(name) && !memcmp(p, name, n))
			return 1;
	return !strcmp(name, RESULT);
}

static int test_fits(const struct where_test *t, const struct function *f)
{
	return has_value(f, t->path[0]) ||
	       (t->n_parts > 1 && is_function(f, t->path[0]) &&
		has_value(f, t->path[1]));
}

static void offer_values(struct near *near, const struct function *f,
			 struct arena *arena)
{
	const char *p = f->values ? f->values : "";

	for (size_t n; (n = next_name(&p)) > 0; p += n) {
		const char *name = arena_intern(arena, p, n);

		if (name)
			near_offer(near, name);
	}
}

/* No function fits: it is the name of the value that is wrong if there is such
 * a function, or if none is named; else that of the function. */
static void put_wrong(const struct where_test *t, const struct names *names,
		      char *out, uint32_t size)
{
	struct arena *arena = arena_new();
	const char *function = NULL, *name = t->path[0];
	char near_names[256], begin[300], shown[256];
	struct near near;

	for (uint32_t i = 0; i < names->n_functions && t->n_parts > 1; i++)
		if (is_function(&names->functions[i], t->path[0]))
			function = t->path[0];
	if (function)
		name = t->path[1];
	near_init(&near, name);
	for (uint32_t i = 0; arena && i < names->n_functions; i++) {
		const struct function *f = &names->functions[i];

		if (t->n_parts > 1 && !function)
			near_offer(&near, f->simple);
		else if (!function || is_function(f, function))
			offer_values(&near, f, arena);
	}
	near_put(&near, near_names, sizeof(near_names));
	*utf8_put(shown, name, sizeof(shown) - 1) = '\0';
	snprintf(begin, sizeof(begin),
		 function	  ? "%.200s() has no value '%s'"
		 : t->n_parts > 1 ? "%sno function matches '%s'"
				  : "%sno function has a value '%s'",
		 function ? function : "", shown);
	snprintf(out, size, *near_names ? "%s: did you mean %s?" : "%s%s",
		 begin, near_names);
	arena_free(arena);
}

int where_knows(const struct where *w, const struct names *names, char *wrong,
		uint32_t size)
{
	for (uint32_t i = 0; i < w->n_tests; i++) {
		int fits = 0;

		for (uint32_t f = 0; f < names->n_functions && !fits; f++)
			fits = test_fits(&w->tests[i], &names->functions[f]);
		if (!fits) {
			put_wrong(&w->tests[i], names, wrong, size);
			return 0;
		}
	}
	return 1;
}
