/* SPDX-License-Identifier: MIT
 *
 * .eh_frame_hdr has a table of where functions begin, by address.
 */
#include "core/function_at.h"

int (*function_tables)(uint64_t address, struct loaded_tables *out);

/* The one form that linkers make.  Both numbers are from the header's begin. */
struct table {
	uint8_t version, pointer_form, count_form, row_form;
	int32_t frames;
	uint32_t n;
	struct row {
		int32_t begin, frame;
	} rows[];
};

enum { VERSION = 1, COUNT_UDATA4 = 0x03, ROW_DATAREL_SDATA4 = 0x3b };

/* An FDE: its length and its CIE's place, then these, from where they stand. */
struct frame {
	uint32_t length, cie;
	int32_t begin;
	uint32_t size;
};

/* Returns the last row that is not behind the place. */
static const struct row *find_row(const struct table *t, int64_t place)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->rows[middle].begin <= place)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &t->rows[low - 1] : 0;
}

static int is_within(const struct loaded_tables *l, uint64_t at, uint64_t size)
{
	return at >= l->start && at < l->end && size <= l->end - at;
}

/* Returns the table, or NULL: it is none that can be read. */
static const struct table *table_of(const struct loaded_tables *l)
{
	const struct table *t = (const struct table *)l->header;

	if (!is_within(l, l->header, sizeof(*t)) || t->version != VERSION ||
	    t->count_form != COUNT_UDATA4 || t->row_form != ROW_DATAREL_SDATA4)
		return 0;
	return is_within(l, l->header, sizeof(*t) + t->n * sizeof(struct row))
		       ? t
		       : 0;
}

uint64_t function_at(uint64_t address)
{
	struct loaded_tables l;
	const struct table *t;
	const struct frame *f;
	const struct row *row;
	uint64_t begin;

	if (!function_tables || function_tables(address, &l) < 0)
		return 0;
	t = table_of(&l);
	row = t ? find_row(t, (int64_t)(address - l.header)) : 0;
	if (!row)
		return 0;
	begin = l.header + (uint64_t)(int64_t)row->begin;
	f = (const struct frame *)(l.header + (uint64_t)(int64_t)row->frame);
	if (!is_within(&l, (uint64_t)f, sizeof(*f)))
		return 0;
	/* Where it is written in another form, this is not its begin. */
	if ((uint64_t)&f->begin + (uint64_t)(int64_t)f->begin != begin ||
	    address - begin >= f->size)
		return 0;
	return begin;
}
