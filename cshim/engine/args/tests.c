/* SPDX-License-Identifier: MIT
 *
 * The tree becomes comparisons that each say where it goes on.  A `!` goes down
 * to them: with what is not known a comparison is not met, nor its opposite, so
 * that no third truth is needed.
 */
#include "args/tests.h"
#include "args/items.h"
#include "args/plan.h"
#include "names/near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char RESULT[] = "result";

struct maker {
	const struct tests_at *at;
	const struct types *types;
	const struct where *w;
	struct cst_test *out;
	uint32_t n, room;
	struct cst_error *err;
};

/* A value that a comparison names. */
struct subject {
	const struct args_item *item;
	const struct type *type; /* the value's own: that of a field */
	uint32_t field;		 /* 1 + its number; 0: the whole value */
	uint32_t offset;	 /* of the field */
	int is_size;		 /* a vector's number of elements */
	char name[128];		 /* as the user wrote it */
};

/* ---- which value ----------------------------------------------------------
 */

static int is_name(const char *at, const char *word)
{
	size_t n = strlen(word);

	return strcspn(at, ",") == n && !memcmp(at, word, n);
}

static const char *behind(const char *at)
{
	at += strcspn(at, ",");
	return *at ? at + 1 : at;
}

/* Is it the function's name, with all that it is in or with a part of that? */
static int is_function(const char *name, const char *word)
{
	size_t n = strlen(word), all = strlen(name);

	return !strcmp(name, word) ||
	       (all > n + 2 && !strcmp(name + all - n, word) &&
		!memcmp(name + all - n - 2, "::", 2));
}

static const struct args_item *find_item(const struct maker *m,
					 const char *word)
{
	const struct args_plan *plan = m->at->plan;
	const char *names = plan->names;

	if (m->at->is_exit)
		return strcmp(word, RESULT) ? NULL : plan->items;
	for (uint32_t i = 0; i < plan->n_items; i++) {
		const struct type *type = &m->types->all[plan->items[i].type];

		if (is_name(names, word))
			return &plan->items[i];
		names = behind(names);
		if (type->kind == TYPE_STRUCT)
			for (uint32_t k = 0; k < type->n; k++)
				names = behind(names);
	}
	return NULL;
}

int tests_result_ahead(const struct tests_at *at, struct cst_error *err)
{
	return cst_fail(CST_BAD_INPUT, err,
			"the result is not known where %s() begins: -returns "
			"compares it",
			at->function);
}

int tests_name_result(const struct where *w)
{
	for (uint32_t i = 0; i < w->n_tests; i++)
		if (!strcmp(w->tests[i].path[0], RESULT))
			return 1;
	return 0;
}

static int no_value(const struct maker *m, const char *word)
{
	const struct args_plan *plan = m->at->plan;
	const char *names = plan->names;
	char all[ITEMS_MAX][64], near_names[256];
	struct near near;

	if (m->at->is_exit)
		return cst_fail(CST_BAD_INPUT, m->err,
				"'%s' is not what %s() returns, which is called"
				" result",
				word, m->at->function);
	if (!strcmp(word, RESULT))
		return tests_result_ahead(m->at, m->err);
	near_init(&near, word);
	for (uint32_t i = 0; i < plan->n_items; i++) {
		const struct type *type = &m->types->all[plan->items[i].type];

		snprintf(all[i], sizeof(all[i]), "%.*s",
			 (int)strcspn(names, ","), names);
		near_offer(&near, all[i]);
		for (uint32_t k = 0;
		     k <= (type->kind == TYPE_STRUCT ? type->n : 0); k++)
			names = behind(names);
	}
	near_put(&near, near_names, sizeof(near_names));
	return cst_fail(CST_BAD_INPUT, m->err,
			*near_names ? "%s() has no value '%s': did you mean %s?"
				    : "%s() has no value '%s'%s",
			m->at->function, word, near_names);
}

/* Goes on into a field, or to a vector's size. */
static int find_field(const struct maker *m, const char *word,
		      struct subject *s)
{
	const struct type *type = s->type;

	if (type->kind == TYPE_VECTOR && !strcmp(word, "size") && !s->is_size) {
		s->is_size = 1;
		return 0;
	}
	for (uint32_t i = 0;
	     type->kind == TYPE_STRUCT && !s->field && i < type->n; i++) {
		const struct field *f = &m->types->fields[type->first + i];

		if (strcmp(f->name, word) != 0)
			continue;
		s->field = i + 1;
		s->offset = f->offset;
		s->type = &m->types->all[f->type];
		return 0;
	}
	return cst_fail(CST_BAD_INPUT, m->err,
			"%s() has no value '%s' that is copied",
			m->at->function, s->name);
}

static void put_path(const struct where_test *t, uint32_t from, char *out,
		     size_t size)
{
	size_t n = 0;

	*out = '\0';
	for (uint32_t i = from; i < t->n_parts && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s",
				      i == from ? "" : ".", t->path[i]);
}

static int find_subject(const struct maker *m, const struct where_test *t,
			struct subject *s)
{
	uint32_t part =
		t->n_parts > 1 && is_function(m->at->function, t->path[0]);
	int status = 0;

	*s = (struct subject){.item = find_item(m, t->path[part])};
	if (!s->item && part)
		s->item = find_item(m, t->path[part = 0]);
	if (!s->item)
		return no_value(m, t->path[part]);
	put_path(t, part, s->name, sizeof(s->name));
	s->type = &m->types->all[s->item->type];
	if (s->item->kind == ITEM_GONE && s->type->kind != TYPE_OTHER)
		return cst_fail(CST_BAD_INPUT, m->err,
				"'%s' is optimized out where %s() %s", s->name,
				m->at->function,
				m->at->is_patched ? "begins"
						  : "calls the hook");
	if (s->item->kind == ITEM_COMPUTED)
		return cst_fail(CST_BAD_INPUT, m->err,
				"'%s' of %s() is computed only behind the exit "
				"hook, which the program does not do again",
				s->name, m->at->function);
	while (status == 0 && ++part < t->n_parts)
		status = find_field(m, t->path[part], s);
	return status;
}

/* ---- its steps ------------------------------------------------------------
 */

static int is_text_step(const struct cst_copy *step)
{
	return step->op == CST_COPY_TEXT || step->op == CST_COPY_SIZED_TEXT;
}

/* Puts an item's steps: those for its bytes, or for the text of a field: in a
 * struct the bytes come first, then each text with the steps that lead there.
 */
static int put_steps(const struct maker *m, const struct subject *s,
		     uint32_t n_text, struct cst_test *out)
{
	const struct cst_copy *steps = &m->at->plan->steps[s->item->first_step];
	uint32_t from = 0, to = s->item->n_steps, n_before = 0, n = 0;
	int is_text = n_text != 0;
	struct cst_copy step;

	if (s->field) {
		for (uint32_t i = 0; i + 1 < s->field; i++)
			n_before += s->item->texts >> i & 1;
		for (to = 0; to < s->item->n_steps; to++) {
			int emits = steps[to].op == CST_COPY_REGISTER ||
				    steps[to].op == CST_COPY_FRAME ||
				    steps[to].op == CST_COPY_BYTES;

			if (!is_text && is_text_step(&steps[to]))
				break;
			if (emits && is_text)
				from = to + 1;
			else if (is_text_step(&steps[to]) && n_before--)
				from = to + 1;
			else if (is_text_step(&steps[to]))
				break;
			if (emits && !is_text)
				n = to + 1;
		}
		to = is_text ? to + 1 : n;
	}
	if (to - from >= CST_TEST_STEPS || to > s->item->n_steps)
		return cst_fail(CST_BAD_INPUT, m->err,
				"'%s' lies in too many places", s->name);
	for (n = 0; from < to; from++, n++) {
		step = steps[from];
		if (is_text_step(&step))
			step.size = (uint16_t)n_text;
		memcpy(&out->steps[n], &step, sizeof(step));
	}
	return 0;
}

/* ---- numbers --------------------------------------------------------------
 */

static int unfit(const struct maker *m, const struct subject *s,
		 const char *why)
{
	return cst_fail(CST_BAD_INPUT, m->err, "'%s' of %s() %s", s->name,
			m->at->function, why);
}

/* READ, or READ|WRITE. */
static int enum_value(const struct maker *m, const struct subject *s,
		      const char *text, int64_t *out)
{
	*out = 0;
	while (*text) {
		size_t n = strcspn(text, "|");
		uint32_t i = 0;

		for (; i < s->type->n; i++) {
			const struct enumerator *e =
				&m->types->enumerators[s->type->first + i];

			if (strlen(e->name) == n && !memcmp(e->name, text, n)) {
				*out |= e->value;
				break;
			}
		}
		if (i == s->type->n)
			return cst_fail(CST_BAD_INPUT, m->err,
					"'%s' of %s() is an enum that has no "
					"%.*s",
					s->name, m->at->function, (int)n, text);
		text += n;
		text += *text == '|';
	}
	return 0;
}

/* All values of the type are on one side of the constant. */
static void make_constant(struct cst_test *out, int64_t order)
{
	out->kind = CST_TEST_INT;
	out->add = order;
	out->number = 0;
	out->at = out->size = out->width = out->has_status = 0;
	memset(out->steps, 0, sizeof(out->steps));
}

/* Sets what the value is compared with, in units of the value. */
static void set_number(struct cst_test *out, long double number)
{
	int is_signed = out->kind == CST_TEST_INT;

	if (number < (is_signed ? -0x1p63L : 0.0L))
		make_constant(out, 1);
	else if (number >= (is_signed ? 0x1p63L : 0x1p64L))
		make_constant(out, -1);
	else
		out->number =
			is_signed ? (int64_t)number : (int64_t)(uint64_t)number;
}

static int constant_of(const struct maker *m, const struct where_test *t,
		       const struct subject *s, long double *out)
{
	int64_t value;
	int status;

	*out = t->number;
	if (t->has_number)
		return floorl(t->number) == t->number && !isinf(t->number)
			       ? 0
			       : unfit(m, s,
				       "is an integer: what it is "
				       "compared with is none");
	if (s->type->kind == TYPE_CHAR && t->text && *t->text && !t->text[1]) {
		*out = (uint8_t)*t->text;
		return 0;
	}
	if (s->type->kind != TYPE_ENUM)
		return unfit(m, s,
			     s->type->kind == TYPE_POINTER ||
					     s->type->kind == TYPE_OWNER
				     ? "is a pointer: compare it with NULL or "
				       "an address"
				     : "is a number: compare it with one");
	if (t->relation != WHERE_EQUAL && t->relation != WHERE_UNEQUAL)
		return unfit(m, s,
			     "is an enum: == and != compare it with a "
			     "name");
	status = enum_value(m, s, t->text, &value);
	*out = (long double)value;
	return status;
}

static int is_constant(const struct args_item *item)
{
	return item->kind == ITEM_CONSTANT || item->kind == ITEM_ADDRESS;
}

/* The bytes of a whole value, which may be widened or added to. */
static void set_bytes(const struct maker *m, const struct subject *s,
		      struct cst_test *out)
{
	const struct args_item *item = s->item;

	if (is_constant(item)) {
		out->at = out->size = 0;
		out->add = item->add;
		if (item->kind == ITEM_ADDRESS)
			out->add += (int64_t)m->at->hook;
		return;
	}
	out->size = (uint8_t)item->size;
	out->add = item->is_changed ? item->add : 0;
	out->is_widened = (uint8_t)(item->widening == WIDEN_BY_TYPE
					    ? s->type->is_signed
					    : item->widening == WIDEN_SIGNED);
}

static int make_number(const struct maker *m, const struct where_test *t,
		       const struct subject *s, struct cst_test *out)
{
	long double number;
	int status;

	if (t->relation == WHERE_LIKE)
		return unfit(m, s, "is a number: =~ takes texts");
	status = constant_of(m, t, s, &number);
	if (status < 0)
		return status;
	out->kind = s->type->is_signed && !s->is_size ? CST_TEST_INT
						      : CST_TEST_UINT;
	out->has_status = s->item->kind == ITEM_CHECKED || s->is_size;
	out->at = (uint8_t)(s->offset + out->has_status);
	out->width = (uint8_t)(s->is_size || s->type->kind == TYPE_OWNER
				       ? 8
				       : s->type->size);
	out->size = out->width;
	if (!s->field && !s->is_size)
		set_bytes(m, s, out);
	else if (is_constant(s->item))
		return unfit(m, s, "is a constant here");
	status = put_steps(m, s, 0, out);
	if (s->is_size)
		number *= m->types->all[s->type->target].size;
	set_number(out, number);
	return status;
}

/* No float is equal to the constant: compares with the next one below it or
 * above it. */
static float nearest_float(double number, struct cst_test *out)
{
	float nearest = (float)number;

	if ((double)nearest == number)
		return nearest;
	switch (out->relation) {
	case CST_TEST_LESS:
	case CST_TEST_LESS_EQUAL:
		out->relation = CST_TEST_LESS_EQUAL;
		return (double)nearest > number ? nextafterf(nearest, -INFINITY)
						: nearest;
	case CST_TEST_GREATER:
	case CST_TEST_GREATER_EQUAL:
		out->relation = CST_TEST_GREATER_EQUAL;
		return (double)nearest < number ? nextafterf(nearest, INFINITY)
						: nearest;
	default: /* none is below this */
		out->is_not ^= out->relation == CST_TEST_UNEQUAL;
		out->relation = CST_TEST_LESS;
		return -INFINITY;
	}
}

static int make_float(const struct maker *m, const struct where_test *t,
		      const struct subject *s, struct cst_test *out)
{
	double number = (double)t->number;
	float single;

	if (t->relation == WHERE_LIKE)
		return unfit(m, s, "is a number: =~ takes texts");
	if (!t->has_number || t->is_null)
		return unfit(m, s, "is a number: compare it with one");
	if (s->type->size != sizeof(double) && s->type->size != sizeof(float))
		return unfit(m, s,
			     "is a long double, which the program does not "
			     "compare");
	out->kind = CST_TEST_FLOAT;
	out->has_status = s->item->kind == ITEM_CHECKED;
	out->at = (uint8_t)(s->offset + out->has_status);
	out->width = out->size = (uint8_t)s->type->size;
	if (!s->field)
		set_bytes(m, s, out);
	else if (is_constant(s->item))
		return unfit(m, s, "is a constant here");
	if (out->width == sizeof(double)) {
		memcpy(&out->number, &number, sizeof(number));
	} else {
		single = nearest_float(number, out);
		memcpy(&out->number, &single, sizeof(single));
	}
	return put_steps(m, s, 0, out);
}

/* ---- texts ----------------------------------------------------------------
 */

/* The text that "^text" says a text begins with; 0: it is another regex. */
static int begin_of(const char *pattern, struct cst_test *out)
{
	uint32_t n = 0;

	if (*pattern++ != '^')
		return 0;
	for (; *pattern; pattern++) {
		if (*pattern == '\\' && pattern[1] &&
		    strchr("\\.[]()*+?{}|^$-/ ", pattern[1]))
			pattern++;
		else if (strchr("\\.[]()*+?{}|^$", *pattern))
			return 0;
		if (n == CST_TEST_TEXT)
			return 0;
		out->text[n++] = *pattern;
	}
	out->n_text = (uint8_t)n;
	return n != 0;
}

static int make_text(const struct maker *m, const struct where_test *t,
		     const struct subject *s, struct cst_test *out)
{
	size_t n = t->text ? strlen(t->text) : 0;

	if (t->relation == WHERE_LIKE) {
		out->kind = CST_TEST_TEXT_BEGINS;
		out->relation = CST_TEST_EQUAL;
		if (!begin_of(t->text, out))
			return unfit(m, s,
				     "is compared in the program, where "
				     "=~ takes the begin of a text only, "
				     "as '^GET '");
	} else if (t->is_null) {
		out->kind = CST_TEST_NULL;
		if (t->relation != WHERE_EQUAL && t->relation != WHERE_UNEQUAL)
			return unfit(m, s, "is NULL or not: == and != tell");
	} else if (!t->text) {
		return unfit(m, s, "is a text: compare it with one, in quotes");
	} else if (n > CST_TEST_TEXT) {
		return unfit(m, s, "is compared with at most 63 bytes");
	} else {
		out->kind = CST_TEST_TEXT_IS;
		memcpy(out->text, t->text, n);
		out->n_text = (uint8_t)n;
	}
	/* One more: is that all of it? */
	return put_steps(m, s, out->n_text + 1u, out);
}

/* ---- comparisons ----------------------------------------------------------
 */

static int make_one(const struct maker *m, const struct where_test *t,
		    struct cst_test *out)
{
	struct subject s;
	int status = find_subject(m, t, &s);

	if (status < 0)
		return status;
	out->relation = (uint8_t)t->relation;
	if (s.is_size)
		return make_number(m, t, &s, out);
	switch (s.type->kind) {
	case TYPE_INT:
	case TYPE_UINT:
	case TYPE_BOOL:
	case TYPE_CHAR:
	case TYPE_ENUM:
	case TYPE_POINTER:
	case TYPE_OWNER:
		return make_number(m, t, &s, out);
	case TYPE_TEXT:
		if (s.field && !(s.item->texts >> (s.field - 1) & 1))
			return unfit(m, &s, "is a text that is not copied");
		return make_text(m, t, &s, out);
	case TYPE_STRING:
	case TYPE_VIEW:
	case TYPE_VIEW_BY_TEXT:
		return make_text(m, t, &s, out);
	case TYPE_FLOAT:
		return make_float(m, t, &s, out);
	case TYPE_STRUCT:
		return unfit(m, &s, "is a struct: compare one of its fields");
	case TYPE_VECTOR:
		return unfit(m, &s, "is a vector: compare its .size");
	default:
		return unfit(m, &s, "is of a type that is not copied");
	}
}

/* Returns the comparison that begins, which was made last; or a negative
 * status. */
static int make_node(struct maker *m, uint32_t number, int is_not, int yes,
		     int no)
{
	const struct where_node *node = &m->w->nodes[number];
	int is_and = (node->kind == WHERE_AND) != is_not, b, status;
	struct cst_test *test;

	if (node->kind == WHERE_NOT)
		return make_node(m, node->a, !is_not, yes, no);
	if (node->kind != WHERE_TEST) {
		b = make_node(m, node->b, is_not, yes, no);
		return b < 0	? b
		       : is_and ? make_node(m, node->a, is_not, b, no)
				: make_node(m, node->a, is_not, yes, b);
	}
	if (m->n == m->room)
		return cst_fail(CST_BAD_INPUT, m->err,
				"the condition has more than %u comparisons",
				m->room);
	test = &m->out[m->n];
	*test = (struct cst_test){.yes = (uint8_t)yes,
				  .no = (uint8_t)no,
				  .is_not = (uint8_t)is_not};
	status = make_one(m, &m->w->tests[node->a], test);
	return status < 0 ? status : (int)m->n++;
}

static uint8_t turned(uint8_t next, uint32_t n)
{
	return next >= CST_TEST_FALSE ? next : (uint8_t)(n - 1 - next);
}

int tests_make(const struct tests_at *at, const struct where *w,
	       struct cst_test *out, uint32_t n, struct cst_error *err)
{
	struct maker m = {
		.at = at,
		.types = &at->plan->of->types,
		.w = w,
		.out = out,
		.room = n,
		.err = err,
	};
	int status = make_node(&m, w->root, 0, CST_TEST_TRUE, CST_TEST_FALSE);

	if (status < 0)
		return status;
	/* From the last to the first: each goes on at a later one. */
	for (uint32_t i = 0; i < m.n / 2; i++) {
		struct cst_test kept = out[i];

		out[i] = out[m.n - 1 - i];
		out[m.n - 1 - i] = kept;
	}
	for (uint32_t i = 0; i < m.n; i++) {
		out[i].yes = turned(out[i].yes, m.n);
		out[i].no = turned(out[i].no, m.n);
	}
	return (int)m.n;
}

static enum cst_test_type type_of(const struct type *t)
{
	switch (t->kind) {
	case TYPE_INT:
	case TYPE_UINT:
		return CST_TEST_OF_INTEGER;
	case TYPE_BOOL:
		return CST_TEST_OF_BOOL;
	case TYPE_CHAR:
		return CST_TEST_OF_CHAR;
	case TYPE_FLOAT:
		return CST_TEST_OF_FLOAT;
	case TYPE_ENUM:
		return CST_TEST_OF_ENUM;
	case TYPE_POINTER:
		return CST_TEST_OF_POINTER;
	case TYPE_TEXT:
	case TYPE_STRING:
	case TYPE_VIEW:
	case TYPE_VIEW_BY_TEXT:
		return CST_TEST_OF_TEXT;
	default:
		return CST_TEST_OF_OTHER;
	}
}

int tests_value(const struct tests_at *at, const struct where *w,
		struct cst_test_value *out, struct cst_error *err)
{
	const struct maker m = {
		.at = at,
		.types = &at->plan->of->types,
		.w = w,
		.err = err,
	};
	struct subject s;
	int status = find_subject(&m, &w->tests[0], &s);

	if (status < 0)
		return status;
	if (s.type->kind == TYPE_OTHER)
		return unfit(&m, &s, "is of a type that is not copied");
	if (s.field && s.type->kind == TYPE_TEXT &&
	    !(s.item->texts >> (s.field - 1) & 1))
		return unfit(&m, &s, "is a text that is not copied");
	*out = (struct cst_test_value){
		.type = type_of(s.type),
		.size = s.type->size,
		.is_signed = s.type->is_signed,
	};
	return 0;
}
