/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `cstrace check` says, and in gdb as well, which runs the command.
 */
#ifndef CLI_CHECK_PRINT_H
#define CLI_CHECK_PRINT_H

#include "check/check_libraries.h"
#include "check/check_names.h"
#include "check/check_page.h"

/* All that is known of the file. */
struct check {
	struct check_file file;
	struct hook_sites sites;
	struct check_code code;
	struct libraries libraries;
	char rights[128]; /* "setuid root", or "" */
};

/* check_verdict.c: the first lines.  Returns whether it can be traced. */
int print_verdict(const struct check *c);
/* check_facts.c: a row for each thing that was looked at. */
void print_facts(const struct check *c);
/* check_units.c: those with trouble first, limit of them. */
void print_units(const struct check *c, uint32_t limit);
/* check_fates.c: what became of each function.  Returns whether one of them can
 * be traced. */
int print_fates(const struct check *c, const struct check_names *names,
		const char *regex, uint32_t limit);

#endif
