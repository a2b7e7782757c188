/* SPDX-License-Identifier: MIT
 *
 * Sums of each function for the page, and the least duration of the calls that
 * the page shows one by one.
 */
#ifndef ENGINE_HTML_SUMS_H
#define ENGINE_HTML_SUMS_H

#include "report/report_rows.h"
#include "trace/loader.h"

/* Zeroed: empty. */
struct html_sums {
	struct total *all; /* by function */
	uint64_t n_calls;
	uint64_t n_rows;   /* with spans, messages, exceptions ... */
	uint64_t least_ns; /* of the calls that are shown one by one */
};

/* Sums up the choice's calls; s need not be zeroed.  Sets least_ns so that at
 * most n_most calls last that long or longer, if that is possible.  Returns 0
 * or a negative status; release s in any case. */
int html_sums_make(struct html_sums *s, const struct cst_trace *t,
		   const struct cst_choice *choice, uint64_t n_most,
		   struct cst_error *err);

/* Frees the memory of s. */
void html_sums_release(struct html_sums *s);

#endif
