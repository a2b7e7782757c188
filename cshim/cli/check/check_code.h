/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The functions of a file and the units (source files, as compiled) that they
 * are of: how many of them call the hooks.
 */
#ifndef CLI_CHECK_CODE_H
#define CLI_CHECK_CODE_H

#include "base/ranges.h"
#include "check/check_hooks.h"

/* A unit of the debug information; the last one is that of all functions
 * without any. */
struct check_unit {
	/* Borrowed from the check_file.  producer is the compiler, with its
	 * flags if it wrote them down; "": not known. */
	const char *name, *producer;
	int version; /* of DWARF */
	int is_assembler;
	uint32_t n_functions, n_hooked;
};

struct check_function {
	struct range range;
	char *name; /* linkage name */
	uint32_t unit;
	uint32_t n_enter;
};

struct check_code {
	struct check_unit *units;
	uint32_t n_units, cap_units;
	struct check_function *functions; /* by address */
	uint32_t n_functions, cap_functions;
	struct range *ranges; /* of code; value: index of its unit */
	uint32_t n_ranges, cap_ranges;
};

/* Reads the functions and units of f, which is borrowed until
 * check_code_release(), and counts their calls of hooks, which are in sites.
 * Returns 1, or 0 when out of memory; release c in any case. */
int check_code_init(struct check_code *c, const struct check_file *f,
		    const struct hook_sites *sites);
void check_code_release(struct check_code *c);

/* Returns the function that contains addr, or NULL. */
const struct check_function *check_code_at(const struct check_code *c,
					   uint64_t addr);

/* Returns whether the unit was compiled with -finstrument-functions. */
int check_unit_is_instrumented(const struct check_unit *u);
/* Returns whether the unit is made by a compiler that knows no such hooks. */
int check_unit_is_rust(const struct check_unit *u);

#endif
