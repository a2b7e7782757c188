/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How `cstrace check` looks: a label and a finding, and below it what mends it;
 * or, for programs, a table with a row for each finding.
 */
#ifndef CLI_CHECK_PAGE_H
#define CLI_CHECK_PAGE_H

#include "cstrace/engine.h"

/* Begins the answer about the file at path, in the form of output.  is_in_gdb
 * 1: it is for gdb's user, who writes options as -all.  There is one answer at
 * a time; all goes to standard output. */
void page_begin(const char *path, enum cst_output output, int is_in_gdb);
/* Ends the answer; status is an exit code, STATUS_OK if the answer is yes.
 * Returns it. */
int page_end(int status);
/* Return whether the answer is text, and is_in_gdb. */
int page_is_text(void);
int page_is_in_gdb(void);

/* Returns a text that comes from the file with what is not printable escaped,
 * in static memory that the eighth call from now overwrites. */
const char *shown(const char *text);

/* Print the verdict, or a finding behind its label, as printf() does. */
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

/* Prints a row of the units' table, whose names are width columns wide; advice
 * may be "". */
void print_unit(const char *name, uint32_t n_functions, uint32_t n_hooked,
		int width, const char *advice);

#endif
