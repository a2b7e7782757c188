/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How `cstrace check` looks: a label and a finding, and below it what mends it;
 * or, for programs, a table with a row for each finding.
 */
#ifndef CLI_CHECK_PAGE_H
#define CLI_CHECK_PAGE_H

#include "cstrace/engine.h"

/* Begins the answer about the file at path; is_in_gdb: it is for gdb's user,
 * who has other words for options. */
void page_begin(const char *path, enum cst_output output, int is_in_gdb);
/* Ends the answer.  Returns status, which is 0 if the answer is yes. */
int page_end(int status);
int page_is_text(void);
int page_is_in_gdb(void);

/* Returns text of the file with what is not printable escaped, valid until the
 * eighth call from now. */
const char *shown(const char *text);

void print_verdict_line(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void print_row(const char *label, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints how to mend what was printed last. */
void print_mend(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a function that was asked about; file is where it is defined, or
 * NULL. */
void print_function(const char *name, const char *file, int line);
/* Prints that no function matches. */
void print_none(const char *regex);
/* Prints what became of the function printed last. */
void print_fate(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a row of the units' table, whose names are width columns wide. */
void print_unit(const char *name, uint32_t n_functions, uint32_t n_hooked,
		int width, const char *advice);

#endif
