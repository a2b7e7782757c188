/* SPDX-License-Identifier: MIT
 *
 * Many tables lie side by side.  Read beyond its end one goes on with the next
 * one's words, which lead from its own begin to anywhere.
 */
#include "plan/tables.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/search.h"

#include <stdlib.h>

void tables_add(struct tables *t, uint64_t start, uint32_t function)
{
	if (start % 4)
		return;
	if (array_room(&t->all, &t->cap, t->n + 1ull)) {
		t->failed = 1;
		return;
	}
	t->all[t->n++] = (struct table){start, function};
}

void tables_add_certain(struct tables *t, uint64_t start)
{
	if (array_room(&t->certain, &t->cap_certain, t->n_certain + 1ull)) {
		t->failed = 1;
		return;
	}
	t->certain[t->n_certain++] = start;
}

void tables_join(struct tables *to, const struct tables *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		tables_add(to, t->all[i].start, t->all[i].function);
	for (uint32_t i = 0; i < t->n_certain; i++)
		tables_add_certain(to, t->certain[i]);
	to->failed |= t->failed;
}

void tables_free(struct tables *t)
{
	free(t->all);
	free(t->certain);
}

static void mark(const struct table *t, uint64_t end, struct image *im,
		 struct functions *f)
{
	struct plan_function *now =
		t->function == FUNCTION_NONE ? NULL : &f->all[t->function];
	const struct image_section *code = NULL; /* where most words lead to */
	uint64_t n = 0;
	const uint8_t *bytes = image_bytes(im, t->start, &n);

	if (n > end - t->start)
		n = end - t->start;
	for (uint64_t i = 0; bytes && i + 4 <= n; i += 4) {
		uint64_t to = t->start + (uint64_t)(int32_t)get_u32(bytes + i);

		if (!code || to - code->start >= code->end - code->start) {
			code = image_section_at(im, to);
			if (!code || !code->is_code)
				break;
		}
		image_mark(im, to, MARK_LISTED);
		if (now && to >= now->start && to < now->end) {
			image_mark(im, to, MARK_LOOP);
			now->has_table = 1;
		}
	}
}

/* Was it compiled, and does all else that leads into it lead to instructions as
 * they were read?  Then they were read as they are. */
static int is_read_well(const struct image *im, const struct plan_function *now)
{
	if (!now->has_line || now->is_assembler || now->is_unreadable)
		return 0;
	for (uint64_t at = now->start; at < now->end; at++) {
		uint8_t marks = image_marks(im, at);

		if (marks & (MARK_LEADER | MARK_RETURN) && !(marks & MARK_CODE))
			return 0;
	}
	return 1;
}

/* Decides which of the words lead to where something jumps to. */
static void settle(struct image *im, const struct functions *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct plan_function *now = &f->all[i];

		if (!is_read_well(im, now))
			continue;
		for (uint64_t at = now->start; at < now->end; at++)
			if (!(image_marks(im, at) & MARK_CODE))
				image_unmark_all(im, at, 1, MARK_LISTED);
	}
	for (uint64_t at = im->code_start; at < im->code_end; at++) {
		if (!(image_marks(im, at) & MARK_LISTED))
			continue;
		image_unmark_all(im, at, 1, MARK_LISTED);
		image_mark(im, at, MARK_LEADER);
	}
}

static int by_address(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

void tables_mark(struct tables *t, struct image *im, struct functions *f)
{
	if (t->n_certain)
		qsort(t->certain, t->n_certain, sizeof(*t->certain),
		      by_address);
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t k = search_while(j, t->n_certain,
					  t->certain[j] <= t->all[i].start);

		mark(&t->all[i], k < t->n_certain ? t->certain[k] : UINT64_MAX,
		     im, f);
	}
	settle(im, f);
}
