/* SPDX-License-Identifier: MIT
 *
 * Parts of lines that are equal for all calls of a site: made when first
 * needed, then copied.
 */
#ifndef ENGINE_SITE_TEXT_H
#define ENGINE_SITE_TEXT_H

#include "base/bytes.h"
#include "trace/loader.h"

/* Appends the piece of site `id`, at least one byte. */
typedef void (*piece_fn)(const struct cst_trace *t, uint32_t id,
			 struct bytes *out);

struct piece {
	size_t at, size; /* size 0: not made yet */
};

struct site_text {
	const struct cst_trace *t;
	piece_fn make;
	struct piece *sites;
	struct bytes text;
};

/* Prepares p; t is borrowed until site_text_release().  Returns 0 or
 * CST_MEMORY; release p in any case. */
int site_text_init(struct site_text *p, const struct cst_trace *t,
		   piece_fn make, struct cst_error *err);

/* Frees the memory of p. */
void site_text_release(struct site_text *p);

/* Makes the piece of a site, for site_text_get().  Returns 0, or CST_MEMORY. */
int site_text_make(struct site_text *p, uint32_t id);

/* Returns the piece of a site, with its size in *size, valid until the next
 * call; or NULL when out of memory. */
static inline const char *site_text_get(struct site_text *p, uint32_t id,
					size_t *size)
{
	if (!p->sites[id].size && site_text_make(p, id) < 0)
		return NULL;
	*size = p->sites[id].size;
	return (const char *)p->text.data + p->sites[id].at;
}

#endif
