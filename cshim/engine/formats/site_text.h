/* SPDX-License-Identifier: MIT
 *
 * Parts of lines that are the same for all calls of a site: made when first
 * asked for, then copied.
 */
#ifndef ENGINE_SITE_TEXT_H
#define ENGINE_SITE_TEXT_H

#include "base/bytes.h"
#include "trace/loader.h"

/* Append the piece of site `id`, which is not empty. */
typedef void (*piece_fn)(const struct cst_trace *t, uint32_t id,
			 struct bytes *out);

struct piece {
	size_t at, size; /* size 0: not made yet */
};

struct pieces {
	const struct cst_trace *t;
	piece_fn make;
	struct piece *sites;
	struct bytes text;
};

/* t is borrowed. */
int pieces_init(struct pieces *p, const struct cst_trace *t, piece_fn make,
		struct cst_error *err);
void pieces_release(struct pieces *p);

/* Negative: out of memory. */
int pieces_make(struct pieces *p, uint32_t id);

/* Valid until the next call; NULL: out of memory. */
static inline const char *pieces_get(struct pieces *p, uint32_t id,
				     size_t *size)
{
	if (!p->sites[id].size && pieces_make(p, id) < 0)
		return NULL;
	*size = p->sites[id].size;
	return (const char *)p->text.data + p->sites[id].at;
}

#endif
