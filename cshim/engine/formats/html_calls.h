/* SPDX-License-Identifier: MIT
 *
 * The page's calls, in pieces of one lane each.  A piece is, in varints: its
 * lane, the number n of its calls, whether it is the first of its lane, and
 * then n each of
 *   calls over since the one before
 *   sites
 *   sites + 1 of where the nearest visible caller called from, or 0: the site
 *   starts less the start before, in ns (a lane's first: its start)
 *   durations in ns
 *   numbers less the number before and 1, zigzag
 *   threads
 *   ends: enum call_end, 4 more for a seed, 8 for each stop at gdb's prompt
 * and at last, how many callees of a call were too short or too many, as pairs
 * of the call's place in its lane and their number, behind the number of pairs.
 */
#ifndef ENGINE_HTML_CALLS_H
#define ENGINE_HTML_CALLS_H

#include "formats/html_tour.h"

struct html_calls;

/* Calls shorter than least_ns are left out, and all beyond n_most. */
int html_calls_new(const struct cst_trace *t, const struct cst_choice *choice,
		   uint64_t least_ns, uint64_t n_most, struct html_calls **out,
		   struct cst_error *err);
void html_calls_free(struct html_calls *h);

/* Append one piece to out. 1: there may be more; 0: that was all. */
int html_calls_put(struct html_calls *h, struct bytes *out,
		   struct cst_error *err);

/* How many were put; how many were left out that have no caller. */
uint64_t html_calls_n(const struct html_calls *h);
uint64_t html_calls_n_lost(const struct html_calls *h);

#endif
