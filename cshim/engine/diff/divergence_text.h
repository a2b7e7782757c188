/* SPDX-License-Identifier: MIT
 *
 * Writes a divergence as text: the calls around it, then what follows in each
 * trace, marked as in a unified diff.
 */
#ifndef ENGINE_DIVERGENCE_TEXT_H
#define ENGINE_DIVERGENCE_TEXT_H

#include "base/bytes.h"
#include "diff/divergence.h"

/* Appends the divergence, with at most limit rows of what follows (0: all). */
void divergence_put(const struct divergence *p,
		    const struct matched_functions *j, uint32_t limit,
		    struct bytes *out);
/* Appends one line, for the lanes after the first one that differs. */
void divergence_put_short(const struct divergence *p,
			  const struct matched_functions *j, struct bytes *out);

/* Appends text with numbers in it, as printf() writes it; names are appended by
 * put_name(). */
void put_words(struct bytes *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* put_name() appends a function's name, put_call() a call's "name file:line",
 * both escaped. */
void put_name(struct bytes *out, const char *name);
void put_call(struct bytes *out, const struct cst_trace *t, uint32_t site,
	      uint32_t from);

#endif
