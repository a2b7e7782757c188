/* SPDX-License-Identifier: MIT
 *
 * Numbers that code computes: the operations, each on those before it.
 */
#ifndef ENGINE_COMPUTE_H
#define ENGINE_COMPUTE_H

#include <stdint.h>

enum compute_op {
	COMPUTE_INPUT, /* number: which one */
	COMPUTE_CONSTANT,
	COMPUTE_ADD,
	COMPUTE_SUB,
	COMPUTE_MUL,
	COMPUTE_AND,
	COMPUTE_OR,
	COMPUTE_XOR,
	COMPUTE_SHL,
	COMPUTE_SHR,
	COMPUTE_SAR,
	COMPUTE_NEG,
	COMPUTE_NOT,
	COMPUTE_ZEROED,	 /* the low bytes, 0 above them */
	COMPUTE_SIGNED,	 /* the low bytes, their sign above them */
	COMPUTE_COMPARE, /* how: enum compute_relation */
	COMPUTE_CHOOSE,	 /* c, if a is not 0, else b */
	/* Floating-point numbers of 4 or 8 bytes. */
	COMPUTE_FLOAT_ADD,
	COMPUTE_FLOAT_SUB,
	COMPUTE_FLOAT_MUL,
	COMPUTE_FLOAT_DIV,
	COMPUTE_FLOAT_OF_INT,	/* how: bytes of the integer */
	COMPUTE_FLOAT_OF_FLOAT, /* how: bytes of the other */
};

enum compute_relation {
	COMPUTE_EQUAL,
	COMPUTE_LESS, /* of signed numbers */
	COMPUTE_LESS_EQUAL,
	COMPUTE_BELOW, /* of unsigned ones */
	COMPUTE_BELOW_EQUAL,
	COMPUTE_MINUS, /* the difference has its sign bit set */
	COMPUTE_OPPOSITE = 8,
};

struct compute_node {
	uint8_t op;   /* enum compute_op */
	uint8_t size; /* bytes: those above are 0, but for COMPUTE_SIGNED */
	uint8_t how;
	uint8_t a, b, c; /* the operands' numbers, lower than its own */
	int64_t number;
};

enum { COMPUTE_MAX = 48, COMPUTE_INPUTS_MAX = 8 };

/* Returns what the last of n nodes (1 to COMPUTE_MAX) computes. */
uint64_t compute_run(const struct compute_node *nodes, uint32_t n,
		     const uint64_t *inputs);

#endif
