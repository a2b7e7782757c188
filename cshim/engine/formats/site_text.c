/* SPDX-License-Identifier: MIT
 *
 * Makes and keeps the text of each call site that a format repeats for each
 * call.
 */
#include "formats/site_text.h"

#include <stdlib.h>

int site_text_init(struct site_text *p, const struct cst_trace *t,
		   piece_fn make, struct cst_error *err)
{
	*p = (struct site_text){.t = t, .make = make};
	p->sites = calloc(t->names->n_sites + (size_t)1, sizeof(*p->sites));
	return p->sites ? 0 : cst_fail_memory(err);
}

void site_text_release(struct site_text *p)
{
	free(p->sites);
	bytes_release(&p->text);
}

int site_text_make(struct site_text *p, uint32_t id)
{
	size_t at = p->text.len;

	p->make(p->t, id, &p->text);
	if (p->text.failed)
		return CST_MEMORY;
	p->sites[id] = (struct piece){at, p->text.len - at};
	return 0;
}
