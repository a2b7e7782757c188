/* SPDX-License-Identifier: MIT
 *
 * The time from the first call of one function (or from one call) to that of
 * another: the choice's from and until, found in a trace.
 */
#ifndef ENGINE_SPAN_H
#define ENGINE_SPAN_H

#include "trace/loader.h"

/* Ticks at which a call may start. */
struct span {
	uint64_t from, until;
};

/* Finds the span in t.  Without from and until it is everything.  A from that
 * is never called leaves nothing, an until that is not called after it the
 * complete rest.  Returns 0, CST_BAD_INPUT (a bad regex, or no such ID) or
 * another negative status. */
int span_init(struct span *s, const struct cst_trace *t,
	      const struct cst_choice *choice, struct cst_error *err);

static inline int span_holds(const struct span *s, uint64_t start)
{
	return start >= s->from && start <= s->until;
}

#endif
