/* SPDX-License-Identifier: MIT
 *
 * A trace as a page of its own: page/ draws what is put behind it here.
 */
#ifndef ENGINE_HTML_H
#define ENGINE_HTML_H

#include "trace/loader.h"

/* So many calls a browser still draws at once: a page has the longest of them
 * one by one. */
enum { HTML_MOST_CALLS = 2000000 };

/* Returns the number of calls. last and around of the choice do not count. */
int64_t html_write(const struct cst_trace *t, const struct cst_choice *choice,
		   cst_write_fn write, void *arg, struct cst_error *err);

#endif
