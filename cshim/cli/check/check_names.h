/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The functions whose name matches a regex: what became of each of them when
 * the file was made, and so why it is not in a trace.
 */
#ifndef CLI_CHECK_NAMES_H
#define CLI_CHECK_NAMES_H

#include "check/check_code.h"

struct check_name {
	char *key;  /* by which copies of one function are joined */
	char *name; /* demangled */
	char *file; /* where it is declared, as compiled, or NULL */
	int line;
	uint32_t unit;
	uint64_t addr; /* of a copy; or 0 */
	/* Copies that stand by themselves, and calls that it was inlined into:
	 * how many, and how many with the hooks. */
	uint32_t n_copies, n_copies_hooked;
	uint32_t n_inlined, n_inlined_hooked;
	int has_debug, is_imported, is_std;
};

struct check_names {
	struct check_name *all; /* by name */
	uint32_t n, capacity;
	/* private */
	void *by_key;
};

struct cst_error;

/* Finds the functions that match the regex.  Returns 0, and the caller releases
 * *out; or a negative status, CST_BAD_INPUT if the regex does not compile. */
int check_names_find(struct check_names *out, const struct check_file *f,
		     const struct check_code *c, const struct hook_sites *sites,
		     const char *regex, struct cst_error *err);
void check_names_release(struct check_names *n);

#endif
