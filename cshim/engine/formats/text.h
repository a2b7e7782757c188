/* SPDX-License-Identifier: MIT
 *
 * A trace's tree as text rows: all of it, its last calls, or what lies around
 * one.
 */
#ifndef ENGINE_TEXT_H
#define ENGINE_TEXT_H

#include "trace/loader.h"

/* Returns the number of rows below the heading.  needs_rows: if there are none,
 * the heading is not written either. */
int64_t text_write(const struct cst_trace *t, const struct cst_look *look,
		   const struct cst_choice *choice, int needs_rows,
		   cst_write_fn write, void *arg, struct cst_error *err);

#endif
