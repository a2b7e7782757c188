/* SPDX-License-Identifier: MIT
 *
 * The calls of a choice for the page: lane after lane, strictly nested, each
 * with its level.
 */
#ifndef ENGINE_HTML_TOUR_H
#define ENGINE_HTML_TOUR_H

#include "trace/clamp.h"
#include "trace/loader.h"

struct tour;

struct stop {
	struct shown call;    /* its times trimmed to those of its caller */
	uint64_t duration_ns; /* as recorded */
	uint32_t function;
	uint32_t level;	  /* how many calls of its lane are open around it */
	uint8_t is_first; /* of its lane */
	uint8_t is_async; /* of a span that may end elsewhere: not trimmed */
};

/* Makes the tour of t, which is borrowed until tour_free(), which the caller
 * calls for *out.  Returns 0 or a negative status. */
int tour_new(const struct cst_trace *t, const struct cst_choice *choice,
	     struct tour **out, struct cst_error *err);

/* Frees r, which may be NULL. */
void tour_free(struct tour *r);

/* Puts the next call into *out.  Returns 1, 0 at the end, or a negative
 * status. */
int tour_next(struct tour *r, struct stop *out, struct cst_error *err);

#endif
