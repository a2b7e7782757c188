/* SPDX-License-Identifier: MIT
 *
 * Puts a plan together: the area, which is the memory near the file that holds
 * the trampolines and their call frame information, and the tables that say
 * what is written where.
 */
#include "plan/assemble.h"
#include "plan/border.h"
#include "plan/plan_id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE = CST_PLAN_AREA_PAGE,
	GAP = 1 << 20, /* between the area and the file, which lies above it */
	/* ... above a file with fixed addresses, behind which the heap grows */
	HEAP_GAP = 512 << 20,
	TRAP_CODE = 0xcc,
};

struct assembly {
	struct trampolines *t;
	const struct functions *f;
	const struct image *im;
	struct cst_plan head;
	struct bytes search, names, functions, out;
};

static uint32_t page_up(uint32_t n)
{
	return (n + PAGE - 1) & ~(uint32_t)(PAGE - 1);
}

void assemble_number(struct functions *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (f->all[i].is_chosen)
			f->all[i].number = n++;
}

/* ---- the area ------------------------------------------------------------ */

static int lay_out_area(struct assembly *a, struct cst_error *err)
{
	struct cst_plan *h = &a->head;
	struct frame_writer *w = &a->t->frames;
	uint64_t start = a->im->start, end = a->im->end;

	if (a->t->code.len > (1u << 29) || w->table.len > (1u << 28))
		return cst_fail(CST_FAILED, err, "it is too large");
	h->image_at = start;
	h->image_size = end - start;
	h->code_at = TRAMPOLINES_AT;
	h->code_size = page_up((uint32_t)a->t->code.len);
	h->frames_at = h->code_at + h->code_size;
	h->frames_size = frame_writer_table_size(w);
	h->header_at = (h->frames_at + h->frames_size + 7) & ~7u;
	h->header_size = frame_writer_header_size(w);
	h->area_size = page_up(h->header_at + h->header_size);
	if (a->im->is_fixed)
		h->area_at = (int64_t)end + HEAP_GAP;
	else
		h->area_at = (int64_t)start - GAP - h->area_size;
	if (end - start + h->area_size + (a->im->is_fixed ? HEAP_GAP : GAP) >=
	    1u << 31)
		return cst_fail(CST_FAILED, err, "it is too large");
	frame_writer_finish(w, h->code_at, h->frames_at, h->header_at,
			    &a->search);
	return 0;
}

/* Trampolines and patches were made as if the area began where the file does:
 * adds how far it is from there. */
static void move_area(struct assembly *a)
{
	uint32_t by = (uint32_t)a->head.area_at;

	for (uint32_t i = 0; i < a->t->n_moves; i++) {
		uint8_t *at = a->t->code.data + a->t->moves[i] - TRAMPOLINES_AT;

		put_u32(at, get_u32(at) - by);
	}
	for (uint32_t i = 0; i < a->t->n_patches; i++) {
		struct cst_patch *p = &a->t->patches[i];
		uint8_t *at = p->new_bytes + p->moved;

		if (p->moved)
			put_u32(at, get_u32(at) + by);
	}
}

/* ---- tables -------------------------------------------------------------- */

static int compare_patches(const void *a, const void *b, void *patches)
{
	const struct cst_patch *of = patches;
	uint64_t x = of[*(const uint32_t *)a].address;
	uint64_t y = of[*(const uint32_t *)b].address;

	return x < y ? -1 : x > y;
}

static int compare_copies(const void *a, const void *b)
{
	const struct cst_plan_copy *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Sorts patches and copies by address. */
static int sort_tables(struct assembly *a)
{
	struct trampolines *t = a->t;
	uint32_t n = t->n_patches;
	auto_free uint32_t *order = calloc(n + 1ull, sizeof(*order));
	auto_free struct cst_patch *sorted = calloc(n + 1ull, sizeof(*sorted));
	auto_free uint32_t *number = calloc(n + 1ull, sizeof(*number));

	if (!order || !sorted || !number)
		return CST_MEMORY;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_patches, t->patches);
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = t->patches[order[i]];
		number[order[i]] = i;
	}
	free(t->patches);
	t->patches = take(sorted);
	for (uint32_t i = 0; i < t->n_copies; i++)
		t->copies[i].patch = number[t->copies[i].patch];
	if (t->n_copies)
		qsort(t->copies, t->n_copies, sizeof(*t->copies),
		      compare_copies);
	return 0;
}

static uint32_t put_name(struct assembly *a, const char *name)
{
	uint32_t at = (uint32_t)a->names.len;

	if (!*name)
		return 0;
	bytes_put(&a->names, name, strlen(name) + 1);
	return at;
}

static void put_functions(struct assembly *a)
{
	bytes_put_byte(&a->names, 0); /* of those without a name */
	for (uint32_t i = 0; i < a->f->n; i++) {
		const struct plan_function *f = &a->f->all[i];
		struct cst_plan_function out = {
			.address = f->start,
			.size = f->end - f->start,
			.n_exits = f->n_exits,
			.n_missed = f->n_missed,
			.reason = f->reason,
			.ends_others = f->ends_others,
			.is_stub = f->is_stub,
		};

		if (!f->is_chosen)
			continue;
		out.name = put_name(a, f->name);
		out.n_exits += f->reason == CST_PLAN_TRACED && f->ends_in_entry;
		bytes_put(&a->functions, &out, sizeof(out));
	}
}

static void put_border(struct assembly *a)
{
	const struct border *border = a->t->p->border;

	a->head.handed = (uint32_t)a->names.len;
	for (uint32_t i = 0; border && i < border->jumped.n; i++)
		put_name(a, border->jumped.names[i]);
	a->head.called = (uint32_t)a->names.len;
	for (uint32_t i = 0; border && i < border->n_choices; i++) {
		const struct border_choice *c = &border->choices[i];

		bytes_put_byte(&a->names, (uint8_t)border_name(a->f, c));
		put_name(a, c->name);
	}
}

/* ---- the plan ------------------------------------------------------------ */

static void fill(struct bytes *b, size_t to, uint8_t with)
{
	while (b->len < to && !b->failed)
		bytes_put_byte(b, with);
}

static struct cst_plan_part put_part(struct assembly *a, const void *items,
				     uint64_t n, size_t size)
{
	struct cst_plan_part part;

	fill(&a->out, (a->out.len + 7) & ~7ull, 0);
	part = (struct cst_plan_part){(uint32_t)a->out.len, (uint32_t)n};
	bytes_put(&a->out, items, n * size);
	return part;
}

static void put_area(struct assembly *a)
{
	struct cst_plan *h = &a->head;
	const struct trampolines *t = a->t;
	struct bytes *out = &a->out;
	size_t start = out->len;

	h->area = (struct cst_plan_part){(uint32_t)start, h->area_size};
	fill(out, start + h->code_at, 0);
	bytes_put(out, t->code.data, t->code.len);
	fill(out, start + h->frames_at, TRAP_CODE);
	bytes_put(out, t->frames.table.data, t->frames.table.len);
	fill(out, start + h->header_at, 0);
	bytes_put(out, a->search.data, a->search.len);
	fill(out, start + h->area_size, 0);
}

static void put_id(struct assembly *a)
{
	char text[BUILD_ID_SIZE];
	unsigned byte;
	uint32_t n = 0;

	plan_id(&a->im->file, text);
	while (n < CST_PLAN_BUILD_ID && text[2 * n] &&
	       sscanf(text + 2 * n, "%2x", &byte) == 1)
		a->head.build_id[n++] = (uint8_t)byte;
	a->head.build_id_size = n;
}

static void put_plan(struct assembly *a)
{
	struct cst_plan *h = &a->head;
	const struct trampolines *t = a->t;
	uint64_t sum;

	bytes_put(&a->out, h, sizeof(*h));
	put_area(a);
	h->patches = put_part(a, t->patches, t->n_patches, sizeof(*t->patches));
	h->copies = put_part(a, t->copies, t->n_copies, sizeof(*t->copies));
	h->moves = put_part(a, t->moves, t->n_moves, sizeof(*t->moves));
	h->functions =
		put_part(a, a->functions.data,
			 a->functions.len / sizeof(struct cst_plan_function),
			 sizeof(struct cst_plan_function));
	h->names = put_part(a, a->names.data, a->names.len, 1);
	fill(&a->out, (a->out.len + 7) & ~7ull, 0);
	h->is_border = t->p->border != NULL;
	h->n_inlined = a->f->n_inlined;
	h->n_lineless = a->f->n_lineless;
	h->is_bare = !t->p->border && a->f->is_bare;
	h->magic = CST_PLAN_MAGIC;
	h->version = CST_PLAN_VERSION;
	h->size = (uint32_t)a->out.len + 8;
	put_id(a);
	if (a->out.failed || a->names.failed || a->functions.failed ||
	    a->search.failed)
		return;
	memcpy(a->out.data, h, sizeof(*h));
	sum = cst_plan_sum(a->out.data, a->out.len);
	bytes_put(&a->out, &sum, sizeof(sum));
}

int assemble(struct trampolines *t, const struct functions *f,
	     const struct image *im, struct plan **out, struct cst_error *err)
{
	struct assembly a = {.t = t, .f = f, .im = im};
	int status = lay_out_area(&a, err);
	void *data;

	if (!status && sort_tables(&a))
		status = cst_fail_memory(err);
	if (!status) {
		move_area(&a);
		put_functions(&a);
		put_border(&a);
		put_plan(&a);
		if (a.out.failed || a.out.len != a.head.size)
			status = cst_fail_memory(err);
	}
	if (!status) {
		data = take(a.out.data);
		status = plan_of_bytes(data, a.out.len, out, err);
	}
	bytes_release(&a.search);
	bytes_release(&a.names);
	bytes_release(&a.functions);
	bytes_release(&a.out);
	return status;
}
