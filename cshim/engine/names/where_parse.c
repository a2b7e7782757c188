/* SPDX-License-Identifier: MIT
 *
 * Recursive descent, a function for each line of the grammar.
 */
#include "names/where_parse.h"

#include "base/utf8.h"
#include "cstrace/engine.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const char *text, *p;
	struct where *w;
	uint32_t depth;
	struct cst_error *err;
};

/* Says what is expected at p, and what is there. */
static int expected(const struct parser *s, const char *what)
{
	unsigned characters = 1;
	char there[64];

	for (const char *p = s->text; p < s->p; p++)
		characters += ((uint8_t)*p & 0xc0) != 0x80;
	*utf8_put(there, s->p, sizeof(there) - 1) = '\0';
	return cst_fail(CST_BAD_INPUT, s->err,
			*there ? "bad condition: expected %s at character %u, "
				 "before '%s'"
			       : "bad condition: expected %s at character %u, "
				 "where it ends%s",
			what, characters, there);
}

static void skip_blanks(struct parser *s)
{
	while (isspace((uint8_t)*s->p))
		s->p++;
}

/* Takes this text, and the blanks before it, if it is there. */
static int take_sign(struct parser *s, const char *text)
{
	size_t n = strlen(text);

	skip_blanks(s);
	if (strncmp(s->p, text, n) != 0)
		return 0;
	s->p += n;
	return 1;
}

static int new_node(struct parser *s, enum where_kind kind, uint32_t a,
		    uint32_t b)
{
	struct where *w = s->w;

	if (w->n_nodes == WHERE_NODES)
		return cst_fail(CST_BAD_INPUT, s->err,
				"bad condition: it has more than %d parts",
				WHERE_NODES);
	w->nodes[w->n_nodes] = (struct where_node){kind, a, b};
	return (int)w->n_nodes++;
}

/* ---- words ----------------------------------------------------------------
 */

static int is_word(char c)
{
	return isalnum((uint8_t)c) || c == '_' || c == '$' || c == '~' ||
	       (uint8_t)c >= 0x80;
}

/* The length of the word at p: "Shop::order". */
static size_t word_length(const char *p)
{
	size_t n = 0;

	if (isdigit((uint8_t)*p))
		return 0;
	while (is_word(p[n]) ||
	       (p[n] == ':' && p[n + 1] == ':' && is_word(p[n + 2])))
		n += p[n] == ':' ? 2 : 1;
	return n;
}

static int take_copy(struct parser *s, size_t n, char **out)
{
	*out = strndup(s->p, n);
	if (!*out)
		return cst_fail_memory(s->err);
	s->p += n;
	return 0;
}

/* "text" or 'text'; a backslash is before what would end it, or is not seen. */
static int take_quoted(struct parser *s, char **out)
{
	const char *begin = s->p, *p = s->p;
	char quote = *p++, *to;

	*out = to = malloc(strlen(p) + 1);
	if (!to)
		return cst_fail_memory(s->err);
	for (; *p && *p != quote; p++) {
		if (*p == '\\' && p[1]) {
			p++;
			*to++ = (char)(*p == 'n'   ? '\n'
				       : *p == 't' ? '\t'
				       : *p == 'r' ? '\r'
						   : *p);
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
	s->p = *p ? p + 1 : begin;
	return *p ? 0 : expected(s, "a text with both of its quotes");
}

static int is_quote(char c)
{
	return c == '"' || c == '\'';
}

/* FUNCTION.NAME.FIELD; what is no word may be in quotes. */
static int take_path(struct parser *s, struct where_test *t)
{
	do {
		size_t n;
		int status;

		skip_blanks(s);
		n = word_length(s->p);
		if (!n && !is_quote(*s->p))
			return expected(s, "the name of a value");
		if (t->n_parts == WHERE_PARTS)
			return expected(s, "the end of the name");
		status = n ? take_copy(s, n, &t->path[t->n_parts])
			   : take_quoted(s, &t->path[t->n_parts]);
		t->n_parts += t->path[t->n_parts] != NULL;
		if (status < 0)
			return status;
	} while (*s->p == '.' && s->p++);
	return 0;
}

/* ---- comparisons ----------------------------------------------------------
 */

static int take_relation(struct parser *s, struct where_test *t)
{
	/* The longer ones first. */
	static const struct {
		const char *text;
		enum where_relation relation;
	} all[] = {
		{"==", WHERE_EQUAL},	  {"!=", WHERE_UNEQUAL},
		{"<=", WHERE_LESS_EQUAL}, {">=", WHERE_GREATER_EQUAL},
		{"=~", WHERE_LIKE},	  {"<", WHERE_LESS},
		{">", WHERE_GREATER},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (take_sign(s, all[i].text)) {
			t->relation = all[i].relation;
			return 0;
		}
	return expected(s, *s->p ? "==, !=, <, <=, >, >= or =~"
				 : "a comparison (in quotes, if there are "
				   "blanks)");
}

/* 16, -1, 0x10, 2.5e-3.  strtod() wants the locale's point. */
static int take_number(struct parser *s, struct where_test *t)
{
	const char *p = s->p;
	int is_hex, is_float = 0;
	char digits[80], *end;
	size_t n = 0;

	is_hex = !strncasecmp(p + (*p == '-' || *p == '+'), "0x", 2);
	for (; isalnum((uint8_t)*p) || *p == '.' ||
	       ((*p == '-' || *p == '+') &&
		(p == s->p || (!is_hex && tolower((uint8_t)p[-1]) == 'e')));
	     p++) {
		is_float |= *p == '.' || (!is_hex && tolower(*p) == 'e');
		if (n < sizeof(digits) - 1)
			digits[n++] =
				*p == '.' ? *localeconv()->decimal_point : *p;
	}
	digits[n] = '\0';
	t->number = is_float ? (long double)strtod(digits, &end)
			     : strtold(digits, &end);
	if (!n || *end || n == sizeof(digits) - 1)
		return expected(s, "a number");
	t->has_number = 1;
	s->p = p;
	return 0;
}

/* READ, or A|B: flags of an enum. */
static size_t bare_length(const char *p)
{
	size_t n = word_length(p), more;

	while (n && p[n] == '|' && (more = word_length(p + n + 1)) > 0)
		n += 1 + more;
	return n;
}

static void read_word(struct where_test *t)
{
	static const struct {
		const char *word;
		long double number;
		uint8_t is_null;
	} numbers[] = {
		{"false", 0, 0},   {"true", 1, 0},	 {"NULL", 0, 1},
		{"nullptr", 0, 1}, {"inf", INFINITY, 0}, {"nan", NAN, 0},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (strcmp(t->text, numbers[i].word) != 0)
			continue;
		t->number = numbers[i].number;
		t->is_null = numbers[i].is_null;
		t->has_number = 1;
	}
}

static int take_constant(struct parser *s, struct where_test *t)
{
	size_t n;
	int status;

	skip_blanks(s);
	n = bare_length(s->p);
	if (is_quote(*s->p)) {
		status = take_quoted(s, &t->text);
	} else if (n) {
		status = take_copy(s, n, &t->text);
		if (status == 0)
			read_word(t);
	} else if (isdigit((uint8_t)*s->p) || (*s->p && strchr("+-.", *s->p))) {
		status = take_number(s, t);
	} else {
		status = expected(s, "a number, a text or a name");
	}
	if (status < 0 || t->relation != WHERE_LIKE)
		return status;
	if (!t->text)
		return cst_fail(CST_BAD_INPUT, s->err,
				"bad condition: =~ takes a regex, in quotes");
	return regex_compile(&t->regex, t->text, s->err);
}

static int take_comparison(struct parser *s)
{
	int number = new_node(s, WHERE_TEST, s->w->n_tests, 0), status;
	struct where_test *t;

	if (number < 0)
		return number;
	t = &s->w->tests[s->w->n_tests++];
	status = take_path(s, t);
	if (status == 0)
		status = take_relation(s, t);
	if (status == 0)
		status = take_constant(s, t);
	return status < 0 ? status : number;
}

/* ---- conditions -----------------------------------------------------------
 */

static int take_any(struct parser *s);

static int take_inner(struct parser *s, int is_not);

static int take_one(struct parser *s)
{
	int is_not = take_sign(s, "!"), number;

	if (!is_not && !take_sign(s, "("))
		return take_comparison(s);
	if (++s->depth > WHERE_DEPTH)
		return cst_fail(CST_BAD_INPUT, s->err,
				"bad condition: its brackets and ! are more "
				"than %d deep",
				WHERE_DEPTH);
	number = take_inner(s, is_not);
	s->depth--;
	return number;
}

static int take_inner(struct parser *s, int is_not)
{
	int number = is_not ? take_one(s) : take_any(s);

	if (number < 0)
		return number;
	if (is_not)
		return new_node(s, WHERE_NOT, (uint32_t)number, 0);
	return take_sign(s, ")") ? number
				 : expected(s, "&&, || or a closing )");
}

static int take_all(struct parser *s)
{
	int a = take_one(s);

	while (a >= 0 && take_sign(s, "&&")) {
		int b = take_one(s);

		a = b < 0 ? b
			  : new_node(s, WHERE_AND, (uint32_t)a, (uint32_t)b);
	}
	return a;
}

static int take_any(struct parser *s)
{
	int a = take_all(s);

	while (a >= 0 && take_sign(s, "||")) {
		int b = take_all(s);

		a = b < 0 ? b : new_node(s, WHERE_OR, (uint32_t)a, (uint32_t)b);
	}
	return a;
}

int where_new(const char *text, struct where **out, struct cst_error *err)
{
	struct where *w = calloc(1, sizeof(*w));
	struct parser s = {.text = text, .p = text, .w = w, .err = err};
	int root;

	if (!w)
		return cst_fail_memory(err);
	root = take_any(&s);
	skip_blanks(&s);
	if (root >= 0 && *s.p)
		root = expected(&s, "&&, || or the end");
	if (root < 0) {
		where_free(w);
		return root;
	}
	w->root = (uint32_t)root;
	*out = w;
	return 0;
}

void where_free(struct where *w)
{
	for (uint32_t i = 0; w && i < w->n_tests; i++) {
		struct where_test *t = &w->tests[i];

		for (uint32_t k = 0; k < t->n_parts; k++)
			free(t->path[k]);
		free(t->text);
		regex_free(t->regex);
	}
	free(w);
}
