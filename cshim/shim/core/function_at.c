/* SPDX-License-Identifier: MIT
 *
 * .eh_frame_hdr has a table of where functions begin, by address.
 */
#include "core/function_at.h"

const uint8_t *(*function_tables)(uint64_t address);

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

uint64_t function_at(uint64_t address)
{
	const struct table *t =
		function_tables ? (const struct table *)function_tables(address)
				: 0;
	const struct frame *f;
	const struct row *row;
	uint64_t begin;

	if (!t || t->version != VERSION || t->count_form != COUNT_UDATA4 ||
	    t->row_form != ROW_DATAREL_SDATA4)
		return 0;
	row = find_row(t, (int64_t)(address - (uint64_t)t));
	if (!row)
		return 0;
	begin = (uint64_t)t + (uint64_t)(int64_t)row->begin;
	f = (const struct frame *)((const uint8_t *)t + row->frame);
	/* Where it is written in another form, this is not its begin. */
	if ((uint64_t)&f->begin + (uint64_t)(int64_t)f->begin != begin ||
	    address - begin >= f->size)
		return 0;
	return begin;
}
