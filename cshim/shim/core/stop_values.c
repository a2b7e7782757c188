/* SPDX-License-Identifier: MIT
 *
 * A comparison's steps are those that copy a value for the reader; here the
 * bytes are compared, and forgotten.
 */
#include "core/stop_values.h"

HIDDEN struct cst_tests stop_tests;
extern EXPORT struct cst_tests cstrace_tests
	__attribute__((alias("stop_tests")));

static enum stop_truth by_order(uint8_t relation, int order)
{
	switch (relation) {
	case CST_TEST_EQUAL:
		return order == 0;
	case CST_TEST_UNEQUAL:
		return order != 0;
	case CST_TEST_LESS:
		return order < 0;
	case CST_TEST_LESS_EQUAL:
		return order <= 0;
	case CST_TEST_GREATER:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* The low bytes of a number, with its sign or without. */
static uint64_t low_bytes(uint64_t value, uint32_t size, int is_signed)
{
	uint32_t shift = 64 - 8 * size;

	if (!size || size >= 8)
		return value;
	value <<= shift;
	return is_signed ? (uint64_t)((int64_t)value >> shift) : value >> shift;
}

static enum stop_truth number_is(const struct cst_test *t, const uint8_t *raw,
				 uint32_t n)
{
	int is_signed = t->kind == CST_TEST_INT;
	uint64_t value = 0, constant = (uint64_t)t->number;
	int order;

	if (t->size > 8 || t->at + t->size > n)
		return STOP_NOT_KNOWN;
	if (t->size) /* else it is in `add` */
		__builtin_memcpy(&value, raw + t->at, sizeof(value));
	value = low_bytes(value, t->size, 0) + (uint64_t)t->add;
	value = low_bytes(value, t->size, t->is_widened);
	value = low_bytes(value, t->width, is_signed);
	order = is_signed ? ((int64_t)value > (int64_t)constant) -
				    ((int64_t)value < (int64_t)constant)
			  : (value > constant) - (value < constant);
	return by_order(t->relation, order);
}

/* Numbers in the order of the floating-point numbers with these bits; no
 * register of theirs is used, as they are the program's. */
static uint64_t in_order(uint64_t bits, uint64_t sign)
{
	if (!(bits & ~sign))
		return sign; /* 0 and -0 are equal */
	return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
}

static enum stop_truth float_is(const struct cst_test *t, const uint8_t *raw,
				uint32_t n)
{
	uint64_t sign = t->width == 4 ? 1ull << 31 : 1ull << 63;
	uint64_t infinity = t->width == 4 ? 0xffull << 23 : 0x7ffull << 52;
	uint64_t bits = (uint64_t)t->add, a, b;

	if (t->size > 8 || t->at + t->size > n)
		return STOP_NOT_KNOWN;
	if (t->size) /* else it is in `add` */
		__builtin_memcpy(&bits, raw + t->at, sizeof(bits));
	bits = low_bytes(bits, t->width, 0);
	if ((bits & ~sign) > infinity) /* not a number */
		return t->relation == CST_TEST_UNEQUAL;
	a = in_order(bits, sign);
	b = in_order((uint64_t)t->number, sign);
	return by_order(t->relation, (a > b) - (a < b));
}

static int order_of(const uint8_t *a, uint32_t n_a, const char *b, uint32_t n_b)
{
	for (uint32_t i = 0; i < n_a && i < n_b; i++)
		if (a[i] != (uint8_t)b[i])
			return a[i] < (uint8_t)b[i] ? -1 : 1;
	return (n_a > n_b) - (n_a < n_b);
}

/* More of the text was copied than the constant has, if it has more. */
static enum stop_truth text_is(const struct cst_test *t, const uint8_t *raw,
			       uint32_t n)
{
	uint32_t n_text = t->n_text < CST_TEST_TEXT ? t->n_text : CST_TEST_TEXT;
	uint32_t size;

	if (n && raw[0] == CST_COPIED_NULL)
		return t->kind == CST_TEST_NULL
			       ? by_order(t->relation, 0)
			       : t->relation == CST_TEST_UNEQUAL;
	if (n < 2 || raw[0] == CST_COPIED_BAD)
		return STOP_NOT_KNOWN;
	size = raw[1] < n - 2 ? raw[1] : n - 2;
	if (t->kind == CST_TEST_NULL)
		return by_order(t->relation, 1);
	if (t->kind == CST_TEST_TEXT_IS)
		return by_order(t->relation,
				order_of(raw + 2, size, t->text, n_text));
	return size >= n_text && !order_of(raw + 2, n_text, t->text, n_text);
}

static enum stop_truth test_one(const struct cst_test *t,
				const struct copy_registers *registers)
{
	uint8_t raw[CST_RAW_MAX + 16];
	enum stop_truth truth;
	uint32_t n = copy_run((const struct cst_copy *)t->steps, CST_TEST_STEPS,
			      registers, raw);

	if (t->has_status && (!n || raw[0] == CST_COPIED_BAD))
		return STOP_NOT_KNOWN;
	truth = t->kind <= CST_TEST_UINT    ? number_is(t, raw, n)
		: t->kind == CST_TEST_FLOAT ? float_is(t, raw, n)
					    : text_is(t, raw, n);
	return truth == STOP_NOT_KNOWN ? truth : truth ^ t->is_not;
}

/* What is not known meets no comparison, nor the opposite of one. */
static enum stop_truth test_all(uint32_t first,
				const struct copy_registers *registers)
{
	uint32_t i = 0;

	for (uint32_t n = 0; n < CST_TESTS_EACH; n++) {
		const struct cst_test *t;

		if (first + i >= CST_MAX_TESTS)
			break;
		t = &stop_tests.tests[first + i];
		i = test_one(t, registers) == STOP_TRUE ? t->yes : t->no;
		if (i >= CST_TEST_FALSE)
			return i == CST_TEST_TRUE ? STOP_TRUE : STOP_FALSE;
	}
	return STOP_FALSE;
}

/* Returns what gdb has written of the condition at the hook; 0: nothing. */
static uint32_t first_of(uint64_t hook, uint32_t stop)
{
	uint64_t i = hook * 0x9e3779b97f4a7c15ull >> (64 - CST_TEST_BITS);

	for (uint32_t n = 0; n < CST_TEST_SLOTS; n++) {
		const struct cst_test_place *p =
			&stop_tests.places[(i + n) % CST_TEST_SLOTS];
		uint64_t here = __atomic_load_n(&p->hook, __ATOMIC_ACQUIRE);

		if (!here)
			break;
		if (here == hook && p->stop == stop)
			return p->first;
	}
	return 0;
}

enum stop_truth stop_values(uint32_t stop, const struct stop_event *e)
{
	uint32_t first =
		first_of(cst_hook_place(e->key.hook, e->key.callee), stop);

	if (!first)
		return STOP_NOT_ASKED;
	if (first == CST_TEST_UNKNOWN || !e->registers)
		return STOP_NOT_KNOWN;
	return test_all(first - 1, e->registers);
}
