/* SPDX-License-Identifier: MIT
 *
 * What the last reading of a trace showed and what it left out.  The trace
 * itself is not changed by it.
 */
#ifndef ENGINE_ANSWER_H
#define ENGINE_ANSWER_H

#include "trace/span.h"

struct answer {
	uint64_t n_shown;
	uint64_t n_notes;   /* shown, but no calls: exceptions, spans ... */
	uint64_t n_std;	    /* hidden only because they are the library's */
	uint8_t is_chosen;  /* a choice was applied */
	uint8_t has_counts; /* 0: only a part was read */
	/* The span of the last choice that had one. */
	uint8_t has_span;
	uint32_t n_span_blocks;
	char *from, *until;
	struct span span;
};

/* Returns a zeroed answer, or NULL when out of memory. */
struct answer *answer_new(void);
/* Frees a, which may be NULL. */
void answer_free(struct answer *a);
/* Drops the span that was found last. */
void answer_forget_span(struct answer *a);

/* Begins a reading, which has left out nothing so far. */
static inline void answer_begin(struct answer *a)
{
	a->is_chosen = 0;
}

/* Sets what a reading that applied a choice has shown. */
static inline void answer_set(struct answer *a, uint64_t n_shown,
			      uint64_t n_std, int has_counts)
{
	a->n_shown = n_shown;
	a->n_std = n_std;
	a->is_chosen = 1;
	a->has_counts = (uint8_t)has_counts;
}

#endif
