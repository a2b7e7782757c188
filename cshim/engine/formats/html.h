/* SPDX-License-Identifier: MIT
 *
 * Writes a trace as a self-contained HTML page; page/ draws the data that are
 * put behind it here.
 */
#ifndef ENGINE_HTML_H
#define ENGINE_HTML_H

#include "trace/loader.h"

/* How many calls a browser can draw: a page has so many of the longest ones one
 * by one. */
enum { HTML_MOST_CALLS = 2000000 };

/* Passes the file to write().  Ignores last, around and at of the choice.
 * Returns the number of calls, a negative status, or the negative number by
 * which write() ended it. */
int64_t html_write(const struct cst_trace *t, const struct cst_choice *choice,
		   cst_write_fn write, void *arg, struct cst_error *err);

#endif
