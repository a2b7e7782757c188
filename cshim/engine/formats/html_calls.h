/* SPDX-License-Identifier: MIT
 *
 * The page's calls, in pieces of one lane each.  A piece is, in varints: its
 * lane, the number n of its calls, 1 if it is the first of its lane, and then n
 * each of
 *   how many open calls have ended since the call before
 *   the site
 *   1 + the site in the nearest visible caller, or 0 if that is the site itself
 *   the start less the start before, in ns (a lane's first: its start)
 *   the duration in ns
 *   the number less the number before and 1, zigzag
 *   the thread
 *   the end: enum call_end, 4 more for a seed, 8 for each stop at gdb's prompt
 * At the end stand the number of pairs that follow and the pairs: a call's
 * place in its lane, and how many of its callees were left out as too short or
 * too many.
 */
#ifndef ENGINE_HTML_CALLS_H
#define ENGINE_HTML_CALLS_H

#include "formats/html_tour.h"

struct html_calls;

/* Makes the pieces of t, which is borrowed until html_calls_free(), without
 * calls shorter than least_ns and those beyond the first n_most.  The caller
 * frees *out.  Returns 0 or a negative status. */
int html_calls_new(const struct cst_trace *t, const struct cst_choice *choice,
		   uint64_t least_ns, uint64_t n_most, struct html_calls **out,
		   struct cst_error *err);

/* Frees h, which may be NULL. */
void html_calls_free(struct html_calls *h);

/* Appends one piece to out.  Returns 1 if there may be more, 0 if that was all,
 * or a negative status. */
int html_calls_put(struct html_calls *h, struct bytes *out,
		   struct cst_error *err);

/* html_calls_n() returns how many calls were put, html_calls_n_lost() how many
 * without a caller were left out. */
uint64_t html_calls_n(const struct html_calls *h);
uint64_t html_calls_n_lost(const struct html_calls *h);

#endif
