/* SPDX-License-Identifier: MIT */
#include "records.h"

void records_put_function(struct bytes *out, const struct names *n, uint32_t id)
{
	const struct function *f = &n->functions[id];

	bytes_put_byte(out, 1);
	bytes_put_varint(out, id);
	bytes_put_varint(out, f->addr);
	bytes_put_byte(out, f->is_std);
	bytes_put_text(out, f->name);
	bytes_put_text(out, f->symbol);
	bytes_put_text(out, f->module);
	bytes_put_text(out, f->file);
}

void records_put_site(struct bytes *out, const struct names *n, uint32_t id)
{
	const struct call_site *s = &n->sites[id];

	bytes_put_byte(out, 2);
	bytes_put_varint(out, id);
	bytes_put_varint(out, s->function);
	bytes_put_varint(out, s->line);
	bytes_put_text(out, s->file);
}
