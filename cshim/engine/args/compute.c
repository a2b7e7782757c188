/* SPDX-License-Identifier: MIT
 *
 * Computes as the processor does: integers wrap, floating-point numbers are
 * rounded to nearest.
 */
#include "args/compute.h"

#include <string.h>

static inline uint64_t low_bytes(uint64_t value, uint32_t size)
{
	uint32_t shift = size < 8 ? 64 - 8 * size : 0;

	return value << shift >> shift;
}

static inline int64_t sign_bytes(uint64_t value, uint32_t size)
{
	uint32_t shift = size < 8 ? 64 - 8 * size : 0;

	return (int64_t)(value << shift) >> shift;
}

static int compare(uint64_t a, uint64_t b, uint32_t size, uint32_t how)
{
	int64_t x = sign_bytes(a, size), y = sign_bytes(b, size);
	int is_so = 0;

	switch (how & ~COMPUTE_OPPOSITE) {
	case COMPUTE_EQUAL:
		is_so = x == y;
		break;
	case COMPUTE_LESS:
		is_so = x < y;
		break;
	case COMPUTE_LESS_EQUAL:
		is_so = x <= y;
		break;
	case COMPUTE_BELOW:
		is_so = low_bytes(a, size) < low_bytes(b, size);
		break;
	case COMPUTE_BELOW_EQUAL:
		is_so = low_bytes(a, size) <= low_bytes(b, size);
		break;
	case COMPUTE_MINUS:
		is_so = sign_bytes(a - b, size) < 0;
		break;
	}
	return is_so != !!(how & COMPUTE_OPPOSITE);
}

/* ---- floating-point numbers -----------------------------------------------
 */

static double double_of(uint64_t bits, uint32_t size)
{
	double value;
	float single;

	if (size == 4) {
		memcpy(&single, &bits, 4);
		return (double)single;
	}
	memcpy(&value, &bits, 8);
	return value;
}

static uint64_t bits_of(double value, uint32_t size)
{
	float single = (float)value;
	uint64_t bits = 0;

	if (size == 4)
		memcpy(&bits, &single, 4);
	else
		memcpy(&bits, &value, 8);
	return bits;
}

/* A float's sum, product or quotient, rounded from that of doubles, is the one
 * that floats have. */
static uint64_t compute_float(const struct compute_node *n, uint64_t a,
			      uint64_t b)
{
	double x = double_of(a, n->size), y = double_of(b, n->size);

	switch (n->op) {
	case COMPUTE_FLOAT_ADD:
		return bits_of(x + y, n->size);
	case COMPUTE_FLOAT_SUB:
		return bits_of(x - y, n->size);
	case COMPUTE_FLOAT_MUL:
		return bits_of(x * y, n->size);
	default:
		return bits_of(x / y, n->size);
	}
}

static uint64_t float_of_int(uint64_t a, const struct compute_node *n)
{
	int64_t value = sign_bytes(a, n->how);
	float single = (float)value;
	uint64_t bits = 0;

	if (n->size != 4)
		return bits_of((double)value, 8);
	memcpy(&bits, &single, 4);
	return bits;
}

/* ---- all ------------------------------------------------------------------
 */

static uint64_t shift(const struct compute_node *n, uint64_t a, uint64_t b)
{
	uint32_t by = (uint32_t)b & (n->size == 8 ? 63 : 31);

	if (n->op == COMPUTE_SHL)
		return a << by;
	return n->op == COMPUTE_SHR ? low_bytes(a, n->size) >> by
				    : (uint64_t)(sign_bytes(a, n->size) >> by);
}

static inline uint64_t compute_node(const struct compute_node *n,
				    const uint64_t *of, const uint64_t *inputs)
{
	uint64_t a = of[n->a], b = of[n->b], value;

	switch (n->op) {
	case COMPUTE_INPUT:
		return inputs[n->number];
	case COMPUTE_CONSTANT:
		return (uint64_t)n->number;
	case COMPUTE_ADD:
		value = a + b;
		break;
	case COMPUTE_SUB:
		value = a - b;
		break;
	case COMPUTE_MUL:
		value = a * b;
		break;
	case COMPUTE_AND:
		value = a & b;
		break;
	case COMPUTE_OR:
		value = a | b;
		break;
	case COMPUTE_XOR:
		value = a ^ b;
		break;
	case COMPUTE_NEG:
		value = -a;
		break;
	case COMPUTE_NOT:
		value = ~a;
		break;
	case COMPUTE_ZEROED:
		value = a;
		break;
	case COMPUTE_SIGNED:
		return (uint64_t)sign_bytes(a, n->size);
	case COMPUTE_COMPARE:
		return (uint64_t)compare(a, b, n->size, n->how);
	case COMPUTE_CHOOSE:
		return of[a ? n->c : n->b];
	case COMPUTE_FLOAT_ADD:
	case COMPUTE_FLOAT_SUB:
	case COMPUTE_FLOAT_MUL:
	case COMPUTE_FLOAT_DIV:
		return compute_float(n, a, b);
	case COMPUTE_FLOAT_OF_INT:
		return float_of_int(a, n);
	case COMPUTE_FLOAT_OF_FLOAT:
		return bits_of(double_of(a, n->how), n->size);
	default:
		value = shift(n, a, b);
	}
	return low_bytes(value, n->size);
}

uint64_t compute_run(const struct compute_node *nodes, uint32_t n,
		     const uint64_t *inputs)
{
	uint64_t of[COMPUTE_MAX];
	uint32_t i = 0;

	of[0] = 0; /* a node without operands names it */
	do
		of[i] = compute_node(&nodes[i], of, inputs);
	while (++i < n);
	return of[n - 1];
}
