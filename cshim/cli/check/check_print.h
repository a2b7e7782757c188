/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `cstrace check` prints; gdb runs the command for its own check.
 */
#ifndef CLI_CHECK_PRINT_H
#define CLI_CHECK_PRINT_H

#include "check/check_libraries.h"
#include "check/check_names.h"
#include "check/check_page.h"
#include "plan/plan.h"

/* What is known of the file. */
struct check {
	struct check_file file;
	struct hook_sites sites;
	struct check_code code;
	struct libraries libraries;
	char rights[128];  /* "setuid root", or "" */
	struct plan *plan; /* how it is patched; NULL: it is not, or nobody
			      asks for functions */
};

/* Returns whether it is patched, for it has no hooks. */
int check_is_patched(const struct check *c);

/* Prints the first lines (check_verdict.c). Returns whether the file can be
 * traced. */
int print_verdict(const struct check *c);
/* Prints a row for each thing that was looked at (check_facts.c). */
void print_facts(const struct check *c);
/* Prints at most limit units, those with trouble first (check_units.c). */
void print_units(const struct check *c, uint32_t limit);
/* Prints what became of each function, at most limit of them (check_fates.c).
 * Returns whether one of them can be traced. */
int print_fates(const struct check *c, const struct check_names *names,
		const char *regex, uint32_t limit);

#endif
