/* SPDX-License-Identifier: MIT
 *
 * Writes values as JSON.
 */
#include "names/values_json.h"

#include "cstrace/layout.h"
#include "names/json.h"
#include "names/values_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void put_json_text(struct bytes *out, const char *text, size_t n,
			  const char *end)
{
	char copy[CST_VALUES_MAX + 1];

	if (n >= sizeof(copy))
		n = sizeof(copy) - 1;
	memcpy(copy, text, n);
	copy[n] = 0;
	bytes_put_byte(out, '"');
	json_put_text(out, copy);
	json_put_text(out, end);
	bytes_put_byte(out, '"');
}

static void put_object(struct bytes *out, struct value_list l);

static void put_array(struct bytes *out, const struct value *v)
{
	struct value_list l = v->inside;
	const char *before = "";
	struct value element;

	bytes_put_format(out, "{\"size\":%" PRIu64 ",\"head\":[", v->u);
	while (value_next(&l, &element)) {
		bytes_put(out, before, strlen(before));
		before = ",";
		value_put_json(out, &element);
	}
	bytes_put(out, "]}", 2);
}

void value_put_json(struct bytes *out, const struct value *v)
{
	char text[VALUE_NUMBER_ROOM] = {(char)v->u};
	int n;

	switch (v->kind) {
	case CST_VALUE_STRUCT:
		put_object(out, v->inside);
		return;
	case CST_VALUE_ARRAY:
		put_array(out, v);
		return;
	case CST_VALUE_TEXT:
	case CST_VALUE_NAME:
		put_json_text(out, v->text, v->size, "");
		return;
	case CST_VALUE_CUT_TEXT:
		put_json_text(out, v->text, v->size, "...");
		return;
	case CST_VALUE_CHAR:
		put_json_text(out, text, 1, "");
		return;
	case CST_VALUE_NULL:
		bytes_put(out, "null", 4);
		return;
	default:
		break;
	}
	n = value_put_number(v, text);
	if (v->kind == CST_VALUE_INT || v->kind == CST_VALUE_UINT ||
	    v->kind == CST_VALUE_BOOL ||
	    (v->kind == CST_VALUE_FLOAT && isfinite(v->f)))
		bytes_put(out, text, (size_t)n);
	else
		put_json_text(out, text, (size_t)n, "");
}

static void put_object(struct bytes *out, struct value_list l)
{
	const char *before = "{";
	unsigned number = 0;
	struct value v;

	while (value_next(&l, &v)) {
		char name[24];

		bytes_put(out, before, 1);
		before = ",";
		snprintf(name, sizeof(name), "%u", ++number);
		if (v.name_size)
			put_json_text(out, v.name, v.name_size, "");
		else
			put_json_text(out, name, strlen(name), "");
		bytes_put_byte(out, ':');
		value_put_json(out, &v);
	}
	bytes_put(out, *before == '{' ? "{}" : "}", *before == '{' ? 2 : 1);
}

void values_put_json(struct bytes *out, const void *data, uint32_t n,
		     const char *names)
{
	put_object(out, value_list(data, n, names));
}
