/* SPDX-License-Identifier: MIT
 *
 * Writes a divergence as text: the calls around it, then what follows in each
 * trace, marked as in a unified diff.
 */
#ifndef ENGINE_DIVERGENCE_TEXT_H
#define ENGINE_DIVERGENCE_TEXT_H

#include "base/bytes.h"
#include "diff/divergence.h"

/* Appends the divergence, which is not PARTING_NONE, as a heading and rows,
 * with at most limit rows of what follows (0: all).  All functions here set
 * out->failed when out of memory. */
void divergence_put(const struct divergence *p,
		    const struct matched_functions *j, uint32_t limit,
		    struct bytes *out);
/* Appends one line, "1.42 f in A, the end in B", for the lanes after the first
 * one that differs. */
void divergence_put_short(const struct divergence *p,
			  const struct matched_functions *j, struct bytes *out);

/* Appends text as printf() writes it, cut at 511 bytes: for texts without
 * names, which put_name() appends. */
void put_words(struct bytes *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends a function's name, escaped and cut at 4000 bytes. */
void put_name(struct bytes *out, const char *name);
/* Appends the name of a joint function as rows have it. */
void put_matched(struct bytes *out, const struct matched_functions *j,
		 uint32_t function);
/* Appends "name  file:line", escaped, for a call of t's site `site`; file and
 * line are those of the site `from`. */
void put_call(struct bytes *out, const struct cst_trace *t, uint32_t site,
	      uint32_t from);

#endif
