/* SPDX-License-Identifier: MIT */
#include "formats/site_text.h"

#include <stdlib.h>

int pieces_init(struct pieces *p, const struct cst_trace *t, piece_fn make,
		struct cst_error *err)
{
	*p = (struct pieces){.t = t, .make = make};
	p->sites = calloc(t->names->n_sites + (size_t)1, sizeof(*p->sites));
	return p->sites ? 0 : cst_fail_memory(err);
}

void pieces_release(struct pieces *p)
{
	free(p->sites);
	bytes_release(&p->text);
}

int pieces_make(struct pieces *p, uint32_t id)
{
	size_t at = p->text.len;

	p->make(p->t, id, &p->text);
	if (p->text.failed)
		return CST_MEMORY;
	p->sites[id] = (struct piece){at, p->text.len - at};
	return 0;
}
