/* SPDX-License-Identifier: MIT
 *
 * A condition on the values of a call, `parse.base == 16 && result < 0`, as a
 * tree:
 *
 *	any        = all { "||" all }
 *	all        = one { "&&" one }
 *	one        = "!" one | "(" any ")" | comparison
 *	comparison = path relation constant
 *	path       = word { "." word }
 */
#ifndef ENGINE_WHERE_PARSE_H
#define ENGINE_WHERE_PARSE_H

#include "base/error.h"
#include "base/regex.h"

#include <stdint.h>

enum {
	WHERE_PARTS = 8,   /* of a path */
	WHERE_NODES = 128, /* of a condition */
	WHERE_DEPTH = 32,  /* of brackets and "!" */
};

enum where_relation {
	WHERE_EQUAL,
	WHERE_UNEQUAL,
	WHERE_LESS,
	WHERE_LESS_EQUAL,
	WHERE_GREATER,
	WHERE_GREATER_EQUAL,
	WHERE_LIKE, /* a regex */
};

struct where_test {
	char *path[WHERE_PARTS]; /* [FUNCTION.]NAME[.FIELD] */
	uint32_t n_parts;
	enum where_relation relation;
	/* The constant: true is the number 1 and the text "true".  A long
	 * double holds each int64_t, uint64_t and double. */
	long double number;
	char *text; /* NULL: a number alone */
	uint8_t has_number, is_null;
	struct regex *regex; /* of WHERE_LIKE */
};

enum where_kind { WHERE_TEST, WHERE_AND, WHERE_OR, WHERE_NOT };

struct where_node {
	enum where_kind kind;
	uint32_t a, b; /* numbers of nodes, or that of the test */
};

struct where {
	struct where_node nodes[WHERE_NODES];
	struct where_test tests[WHERE_NODES];
	uint32_t n_nodes, n_tests;
	uint32_t root;
};

/* Parses a condition.  Returns 0, and the caller frees *out with where_free();
 * or CST_BAD_INPUT, with the place of what is wrong in err, or CST_MEMORY. */
int where_new(const char *text, struct where **out, struct cst_error *err);
/* Frees w, which may be NULL. */
void where_free(struct where *w);

#endif
