/* SPDX-License-Identifier: MIT
 *
 * Raw bytes become values.  They come from the traced program: none is trusted.
 */
#include "args/decode.h"
#include "args/codes.h"
#include "args/items.h"
#include "args/plan.h"

#include <string.h>

struct decoder {
	const struct types *types;
	struct modules *modules;
	uint64_t hook;
	struct cursor raw;
	struct bytes *out;
};

static void put_value(struct bytes *out, uint8_t kind)
{
	bytes_put_byte(out, kind);
}

static void put_number(struct bytes *out, uint8_t kind, uint64_t number)
{
	put_value(out, kind);
	bytes_put_varint(out, number);
}

static void put_text(struct bytes *out, uint8_t kind, const void *text,
		     size_t n)
{
	put_number(out, kind, n);
	bytes_put(out, text, n);
}

/* ---- numbers --------------------------------------------------------------
 */

static void put_integer(struct bytes *out, uint8_t kind, uint64_t value)
{
	uint8_t *to = bytes_reserve(out, INTEGER_MOST);

	if (to)
		out->len += (size_t)(integer_put(to, kind, value) - to);
}

static void put_int(struct bytes *out, int64_t value)
{
	put_integer(out, CST_VALUE_INT, (uint64_t)value);
}

static void put_float(struct bytes *out, const void *at, uint32_t size)
{
	long double longest;
	float single;
	double f = 0;
	uint8_t bits[8];

	if (size == 4) {
		memcpy(&single, at, sizeof(single));
		f = (double)single;
	} else if (size == 8) {
		memcpy(&f, at, sizeof(f));
	} else {
		memcpy(&longest, at, 10);
		f = (double)longest;
	}
	put_value(out, CST_VALUE_FLOAT);
	memcpy(bits, &f, sizeof(bits));
	bytes_put(out, bits, sizeof(bits));
}

/* READ|WRITE, and what is left as a number; 0: nothing has a name. */
static int put_flags(struct bytes *out, const struct types *t,
		     const struct type *type, int64_t value)
{
	struct bytes text = {0};
	int64_t left = value;

	for (uint32_t i = type->first; i < type->first + type->n; i++) {
		const struct enumerator *e = &t->enumerators[i];

		if (!e->value || !(value & e->value))
			continue;
		if (text.len)
			bytes_put_byte(&text, '|');
		bytes_put(&text, e->name, strlen(e->name));
		left &= ~e->value;
	}
	if (text.len && left)
		bytes_put_format(&text, "|0x%llx", (unsigned long long)left);
	if (text.len)
		put_text(out, CST_VALUE_NAME, text.data, text.len);
	bytes_release(&text);
	return left != value;
}

static void put_enum(struct bytes *out, const struct types *t,
		     const struct type *type, int64_t value)
{
	for (uint32_t i = type->first; i < type->first + type->n; i++) {
		const struct enumerator *e = &t->enumerators[i];

		if (e->value == value) {
			put_text(out, CST_VALUE_NAME, e->name, strlen(e->name));
			return;
		}
	}
	if (!type->is_flags || !value || !put_flags(out, t, type, value))
		put_int(out, value);
}

/* Without what its parameters are, if it is plain where these begin. */
static size_t name_length(const char *name)
{
	if (strchr(name, '<') || strstr(name, "operator") || *name == '(' ||
	    strstr(name, "(anonymous"))
		return strlen(name);
	return strcspn(name, "(");
}

/* "counter.0", a variable of a function, without its number. */
static void cut_number(char *name)
{
	char *dot = strrchr(name, '.');

	if (dot && dot != name && dot[1] &&
	    !dot[1 + strspn(dot + 1, "0123456789")])
		*dot = '\0';
}

static void put_pointer(struct decoder *d, uint64_t value)
{
	char name[CST_VALUES_MAX];
	struct bytes text = {0};
	struct symbol symbol;
	const char *tag;
	int is_function;
	size_t n;

	if (!value || !d->modules ||
	    !modules_pointee(d->modules, value, &symbol, &is_function)) {
		put_integer(d->out, CST_VALUE_POINTER, value);
		return;
	}
	cst_demangle(symbol.symbol, name, sizeof(name));
	cut_number(name);
	/* A variable in a function has that one's name before its own. */
	n = is_function ? name_length(name) : strlen(name);
	tag = strstr(name, "[abi:");
	if (tag && (size_t)(tag - name) < n)
		n = (size_t)(tag - name);
	bytes_put(&text, name, n < CST_VALUE_TEXT_MAX ? n : CST_VALUE_TEXT_MAX);
	if (symbol.offset)
		bytes_put_format(&text, "+%llu",
				 (unsigned long long)symbol.offset);
	put_text(d->out, CST_VALUE_NAME, text.data, text.len);
	bytes_release(&text);
}

/* A value of the type, of which `size` bytes are there. */
static void put_scalar(struct decoder *d, const struct type *type,
		       const void *at, uint32_t size)
{
	uint64_t value =
		integer_low(integer_at(at, size), size, type->is_signed);

	value = integer_low(value, type->size, type->is_signed);
	switch (type->kind) {
	case TYPE_INT:
		put_int(d->out, (int64_t)value);
		break;
	case TYPE_UINT:
		put_integer(d->out, CST_VALUE_UINT, value);
		break;
	case TYPE_BOOL:
		put_value(d->out, CST_VALUE_BOOL);
		bytes_put_byte(d->out, value != 0);
		break;
	case TYPE_CHAR:
		put_value(d->out, CST_VALUE_CHAR);
		bytes_put_byte(d->out, (uint8_t)value);
		break;
	case TYPE_FLOAT:
		put_float(d->out, at, size);
		break;
	case TYPE_ENUM:
		put_enum(d->out, d->types, type, (int64_t)value);
		break;
	default:
		put_pointer(d, value);
	}
}

/* A number that the code behind the hook widens or adds to. */
static void put_number_of(struct decoder *d, const struct type *type,
			  const void *at, uint32_t size,
			  const struct args_item *item)
{
	int is_signed = item->widening == WIDEN_BY_TYPE
				? type->is_signed
				: item->widening == WIDEN_SIGNED;
	uint64_t value = integer_at(at, size) + (uint64_t)item->add;

	value = integer_low(value, size, is_signed);
	put_scalar(d, type, &value, type->size < 8 ? type->size : 8);
}

/* ---- values ---------------------------------------------------------------
 */

/* Without its value, but with as many names as it has with one. */
static void put_empty(struct decoder *d, const struct type *type, uint8_t kind)
{
	if (type->kind == TYPE_OTHER) {
		put_text(d->out, CST_VALUE_NAME, "{...}", 5);
		return;
	}
	if (type->kind != TYPE_STRUCT) {
		put_value(d->out, kind);
		return;
	}
	put_value(d->out, CST_VALUE_STRUCT);
	for (uint32_t i = 0; i < type->n; i++)
		put_value(d->out, kind);
	put_value(d->out, CST_VALUE_STRUCT_END);
}

static const uint8_t *take_bytes(struct decoder *d, size_t n)
{
	const uint8_t *at = d->raw.p;

	if (d->raw.failed || (size_t)(d->raw.end - at) < n) {
		d->raw.failed = 1;
		return NULL;
	}
	d->raw.p += n;
	return at;
}

static void put_copied_text(struct decoder *d)
{
	uint8_t *to = bytes_reserve(d->out, CODES_MOST), *p;

	if (!to)
		return;
	p = d->raw.failed ? NULL : text_put(to, &d->raw.p, d->raw.end);
	if (p) {
		d->out->len += (size_t)(p - to);
		return;
	}
	d->raw.failed = 1;
	put_value(d->out, CST_VALUE_BAD);
}

static void put_fields(struct decoder *d, const struct args_item *item,
		       const struct type *type, const uint8_t *at)
{
	put_value(d->out, CST_VALUE_STRUCT);
	for (uint32_t i = 0; i < type->n; i++) {
		const struct field *f = &d->types->fields[type->first + i];
		const struct type *of = &d->types->all[f->type];

		if (item->texts & 1 << i)
			put_copied_text(d);
		else if (!at)
			put_value(d->out, CST_VALUE_BAD);
		else if (of->kind == TYPE_TEXT)
			put_integer(d->out, CST_VALUE_POINTER,
				    get_u64(at + f->offset));
		else
			put_scalar(d, of, at + f->offset, of->size);
	}
	put_value(d->out, CST_VALUE_STRUCT_END);
}

static void put_bytes(struct decoder *d, const struct args_item *item,
		      const struct type *type)
{
	uint8_t constant[TYPE_STRUCT_MAX] = {0};
	const uint8_t *at;

	if (item->kind == ITEM_CONSTANT) {
		put_u64(constant, (uint64_t)item->add);
		at = constant;
	} else if (item->kind == ITEM_ADDRESS) {
		put_u64(constant, (uint64_t)item->add + d->hook);
		at = constant;
	} else if (item->kind == ITEM_CHECKED &&
		   cursor_byte(&d->raw) != CST_COPIED_OK) {
		at = NULL;
	} else {
		at = take_bytes(d, item->size);
	}
	if (type->kind == TYPE_STRUCT)
		put_fields(d, item, type, at);
	else if (!at)
		put_value(d->out, CST_VALUE_BAD);
	else if (type->kind == TYPE_OWNER)
		put_pointer(d, get_u64(at));
	else if (item->is_changed && at != constant)
		put_number_of(d, type, at, item->size, item);
	else
		put_scalar(d, type, at, item->size);
}

/* What is computed of the numbers that have been copied. */
static void put_computed(struct decoder *d, const struct args_plan *plan,
			 const struct type *type)
{
	uint64_t inputs[COMPUTE_INPUTS_MAX] = {0}, value;

	for (uint32_t i = 0; i < plan->n_inputs; i++) {
		const struct compute_node *n = &plan->nodes[plan->inputs[i]];
		const uint8_t *at = NULL;

		if (!n->how || cursor_byte(&d->raw) == CST_COPIED_OK)
			at = take_bytes(d, n->size);
		if (!at) {
			put_value(d->out, CST_VALUE_BAD);
			return;
		}
		inputs[n->number] = integer_at(at, n->size);
	}
	value = compute_run(plan->nodes, plan->n_nodes, inputs);
	put_scalar(d, type, &value, type->size);
}

static void put_head(struct decoder *d, const struct args_item *item,
		     const struct type *type)
{
	enum { ROOM = 16 };
	const struct type *of = &d->types->all[type->target];
	uint8_t status = cursor_byte(&d->raw);
	const uint8_t *size, *at;
	uint64_t n, shown = 0;

	if ((status != CST_COPIED_OK && status != CST_COPIED_CUT) ||
	    !(size = take_bytes(d, 8))) {
		put_value(d->out, CST_VALUE_BAD);
		return;
	}
	n = get_u64(size) / of->size;
	if (item->size)
		shown = n < ROOM / item->size ? n : ROOM / item->size;
	at = take_bytes(d, shown * item->size);
	if (!at)
		shown = 0;
	put_number(d->out, CST_VALUE_ARRAY, n);
	for (uint64_t i = 0; i < shown; i++)
		put_scalar(d, of, at + i * item->size, item->size);
	put_value(d->out, CST_VALUE_ARRAY_END);
}

/* What number_of() in args.c has found to be a number as it is.  Returns 0, and
 * does nothing, if there are no bytes of it, or if a pointer may have a
 * name. */
static inline int put_number_at_once(struct decoder *d,
				     const struct args_item *item)
{
	const uint8_t *at = d->raw.p;
	uint8_t *to = bytes_reserve(d->out, INTEGER_MOST), *p;
	uint64_t value;

	if (!to || d->raw.failed || d->raw.end - at < item->size)
		return 0;
	value = integer_at(at, item->size);
	if (item->number == CST_VALUE_INT)
		value = integer_low(value, item->size, 1);
	else if (item->number == CST_VALUE_POINTER && value && d->modules &&
		 !modules_is_void(d->modules, value))
		return 0;
	d->raw.p += item->size;
	if (item->number == CST_VALUE_CHAR || item->number == CST_VALUE_BOOL) {
		*to = item->number;
		to[1] = item->number == CST_VALUE_BOOL ? value != 0
						       : (uint8_t)value;
		p = to + 2;
	} else {
		p = integer_put(to, item->number, value);
	}
	d->out->len += (size_t)(p - to);
	return 1;
}

void args_decode(const struct args_plan *plan, struct modules *m, uint64_t hook,
		 const void *raw, uint32_t n, struct bytes *out)
{
	const uint8_t *at = raw;
	struct decoder d = {&plan->of->types, m, hook, {at, at + n, 0}, out};

	for (uint32_t i = 0; i < plan->n_items; i++) {
		const struct args_item *item = &plan->items[i];
		const struct type *type = &d.types->all[item->type];

		if (item->number && put_number_at_once(&d, item))
			continue;
		if (item->kind == ITEM_GONE)
			put_empty(&d, type, CST_VALUE_GONE);
		else if (item->kind == ITEM_TEXT)
			put_copied_text(&d);
		else if (item->kind == ITEM_HEAD)
			put_head(&d, item, type);
		else if (item->kind == ITEM_COMPUTED)
			put_computed(&d, plan, type);
		else
			put_bytes(&d, item, type);
	}
}

uint64_t args_compute_packed(const struct args_plan *plan, uint64_t packed)
{
	uint32_t bits = CST_NUMBERS_BITS / plan->n_inputs;
	uint64_t half = 1ull << (bits - 1), mask = 2 * half - 1;
	uint64_t inputs[COMPUTE_INPUTS_MAX] = {0};

	for (uint32_t i = 0; i < plan->n_inputs; i++, packed >>= bits) {
		const struct compute_node *n = &plan->nodes[plan->inputs[i]];

		inputs[n->number] =
			integer_low((packed & mask) - half, n->size, 0);
	}
	return compute_run(plan->nodes, plan->n_nodes, inputs);
}

int args_compute(const struct args_plan *plan, const uint8_t *raw, uint32_t n,
		 uint64_t *result)
{
	uint64_t inputs[COMPUTE_INPUTS_MAX] = {0};
	const uint8_t *end = raw + n;

	for (uint32_t i = 0; i < plan->n_inputs; i++) {
		const struct compute_node *from = &plan->nodes[plan->inputs[i]];

		if (end - raw < from->size)
			return 0;
		inputs[from->number] = integer_at(raw, from->size);
		raw += from->size;
	}
	*result = compute_run(plan->nodes, plan->n_nodes, inputs);
	return raw == end;
}
