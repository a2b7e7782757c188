/* SPDX-License-Identifier: MIT
 *
 * Keeps the bytes of values, and reads them one by one.
 */
#include "names/values.h"

#include "cstrace/layout.h"

#include <stdlib.h>

/* ---- memory ---------------------------------------------------------------
 */

static void fill(struct values *v, uint32_t n_refs, const void *data,
		 uint32_t n, const void *result, uint32_t n_result)
{
	*v = (struct values){.n_refs = n_refs, .n = n, .n_result = n_result};
	if (n)
		memcpy(v->data, data, n);
	if (n_result)
		memcpy(v->data + n, result, n_result);
}

struct values *values_new(const void *data, uint32_t n, const void *result,
			  uint32_t n_result)
{
	struct values *v = malloc(sizeof(*v) + n + n_result);

	if (v)
		fill(v, 1, data, n, result, n_result);
	return v;
}

struct values *values_of_text(const char *text)
{
	size_t n = strlen(text), most = CST_VALUES_MAX - 16;
	struct bytes b = {0};
	struct values *v = NULL;

	bytes_put_byte(&b, n > most ? CST_VALUE_CUT_TEXT : CST_VALUE_TEXT);
	n = n > most ? most : n;
	bytes_put_varint(&b, n);
	bytes_put(&b, text, n);
	if (!b.failed)
		v = values_new(b.data, (uint32_t)b.len, NULL, 0);
	bytes_release(&b);
	return v;
}

const struct values *values_keep(const struct values *v)
{
	if (!v)
		return NULL;
	if (!v->n_refs)
		return values_new(v->data, v->n, v->data + v->n, v->n_result);
	((struct values *)v)->n_refs++;
	return v;
}

void values_drop(const struct values *v)
{
	struct values *own = (struct values *)v;

	if (own && own->n_refs && !--own->n_refs)
		free(own);
}

int values_equal(const struct values *a, const struct values *b)
{
	if (!a || !b)
		return a == b;
	return a->n == b->n && a->n_result == b->n_result &&
	       !memcmp(a->data, b->data, a->n + (size_t)a->n_result);
}

uint64_t values_hash(const struct values *v)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; v && i < v->n + (size_t)v->n_result; i++)
		hash = (hash ^ v->data[i]) * 0x100000001b3ull;
	return hash;
}

size_t values_put(struct bytes *out, const void *data, uint32_t n,
		  const void *result, uint32_t n_result)
{
	const size_t align = _Alignof(struct values);
	size_t at = (out->len + align - 1) / align * align;
	size_t size = at - out->len + sizeof(struct values) + n + n_result;

	if (!bytes_reserve(out, size))
		return 0;
	fill((struct values *)(out->data + at), 0, data, n, result, n_result);
	out->len += size;
	return at;
}

/* ---- one by one -----------------------------------------------------------
 */

struct value_list value_list(const void *data, uint32_t n, const char *names)
{
	const uint8_t *p = data ? data : (const uint8_t *)"";

	return (struct value_list){{p, p + (data ? n : 0), 0},
				   names ? names : ""};
}

struct value_list value_list_of_result(const void *data, uint32_t n,
				       const char *names)
{
	const char *line = names ? strchr(names, '\n') : NULL;

	return value_list(data, n, line ? line + 1 : NULL);
}

static void take_name(struct value_list *l, struct value *out)
{
	out->name = l->names;
	out->name_size = strcspn(l->names, ",\n");
	l->names += out->name_size + (l->names[out->name_size] == ',');
}

static void take_text(struct cursor *c, struct value *out)
{
	uint64_t n = cursor_varint(c);

	if (n > (uint64_t)(c->end - c->p)) {
		c->failed = 1;
		return;
	}
	out->text = (const char *)c->p;
	out->size = (uint32_t)n;
	c->p += n;
}

/* A number of so many bytes, at most eight. */
static uint64_t take_bytes(struct cursor *c, int n)
{
	uint64_t number = 0;

	if (c->end - c->p < n) {
		c->failed = 1;
		return 0;
	}
	memcpy(&number, c->p, (size_t)n);
	c->p += n;
	return le64toh(number);
}

static void take_float(struct cursor *c, struct value *out)
{
	uint64_t bits = take_bytes(c, 8);

	memcpy(&out->f, &bits, sizeof(bits));
}

/* Numbers as they are in files, where a varint would be longer. */
static void take_long(struct cursor *c, struct value *out)
{
	out->u = take_bytes(c, out->kind == CST_VALUE_LONG_POINTER ? 6 : 8);
	out->i = (int64_t)out->u;
	out->kind = out->kind == CST_VALUE_LONG_INT	  ? CST_VALUE_INT
		    : out->kind == CST_VALUE_LONG_POINTER ? CST_VALUE_POINTER
							  : CST_VALUE_UINT;
}

static int next(struct value_list *l, struct value *out, int depth);

/* Takes what is inside a struct or an array, and its end. */
static void take_inside(struct value_list *l, struct value *out, int depth,
			uint8_t end)
{
	struct cursor *c = &l->c;
	struct value field;

	out->inside = *l;
	if (depth == VALUES_DEPTH)
		c->failed = 1;
	while (!c->failed && c->p < c->end && *c->p != end)
		next(l, &field, depth + 1);
	out->inside.c.end = c->p;
	if (cursor_byte(c) != end)
		c->failed = 1;
}

/* An array's elements have no names, nor has what is in them. */
static void take_array(struct cursor *c, struct value *out, int depth)
{
	struct value_list l = {.names = ""};

	out->u = cursor_varint(c);
	l.c = *c;
	take_inside(&l, out, depth, CST_VALUE_ARRAY_END);
	*c = l.c;
}

static int next(struct value_list *l, struct value *out, int depth)
{
	struct cursor *c = &l->c;

	if (c->failed || c->p == c->end)
		return 0;
	*out = (struct value){.kind = cursor_byte(c)};
	take_name(l, out);
	switch (out->kind) {
	case CST_VALUE_INT:
		out->u = cursor_varint(c);
		out->i = (int64_t)(out->u >> 1 ^ -(out->u & 1));
		break;
	case CST_VALUE_UINT:
	case CST_VALUE_HEX:
	case CST_VALUE_POINTER:
		out->u = cursor_varint(c);
		break;
	case CST_VALUE_LONG_INT:
	case CST_VALUE_LONG_UINT:
	case CST_VALUE_LONG_POINTER:
		take_long(c, out);
		break;
	case CST_VALUE_FLOAT:
		take_float(c, out);
		break;
	case CST_VALUE_CHAR:
	case CST_VALUE_BOOL:
		out->u = cursor_byte(c);
		break;
	case CST_VALUE_TEXT:
	case CST_VALUE_CUT_TEXT:
	case CST_VALUE_NAME:
		take_text(c, out);
		break;
	case CST_VALUE_STRUCT:
		take_inside(l, out, depth, CST_VALUE_STRUCT_END);
		break;
	case CST_VALUE_ARRAY:
		take_array(c, out, depth);
		break;
	case CST_VALUE_NULL:
	case CST_VALUE_BAD:
	case CST_VALUE_GONE:
		break;
	default:
		c->failed = 1;
	}
	return !c->failed;
}

int value_next(struct value_list *l, struct value *out)
{
	return next(l, out, 0);
}

static int is_named(const struct value *v, const char *name)
{
	return v->name_size && v->name_size == strlen(name) &&
	       !memcmp(v->name, name, v->name_size);
}

int value_field(char *const *names, uint32_t n, struct value *v)
{
	for (uint32_t i = 0; i < n; i++) {
		struct value_list fields = v->inside;
		int found = 0;

		if (v->kind == CST_VALUE_ARRAY && !strcmp(names[i], "size") &&
		    i == n - 1) {
			v->kind = CST_VALUE_UINT;
			return 1;
		}
		if (v->kind != CST_VALUE_STRUCT)
			return 0;
		while (!found && value_next(&fields, v))
			found = is_named(v, names[i]);
		if (!found)
			return 0;
	}
	return 1;
}

int value_find(struct value_list l, char *const *names, uint32_t n,
	       struct value *out)
{
	while (value_next(&l, out))
		if (is_named(out, *names))
			return value_field(names + 1, n - 1, out);
	return 0;
}

int value_as_number(const struct value *v, long double *out)
{
	switch (v->kind) {
	case CST_VALUE_INT:
		*out = v->i;
		return 1;
	case CST_VALUE_UINT:
		*out = v->u;
		return 1;
	case CST_VALUE_FLOAT:
		*out = v->f;
		return 1;
	default:
		return 0;
	}
}

int value_is_text(const struct value *v)
{
	return v->kind == CST_VALUE_TEXT || v->kind == CST_VALUE_CUT_TEXT ||
	       v->kind == CST_VALUE_NAME;
}

int values_first(const struct values *v, struct value *out)
{
	struct value_list l =
		value_list(v ? v->data : NULL, v ? v->n : 0, NULL);

	return value_next(&l, out);
}

int values_result(const struct values *v, const char *names, struct value *out)
{
	struct value_list l = value_list_of_result(v ? v->data + v->n : NULL,
						   v ? v->n_result : 0, names);

	return value_next(&l, out);
}
