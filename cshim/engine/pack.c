/* SPDX-License-Identifier: MIT
 *
 * The writing half: one pass over the calls fills the columns, then each is
 * compressed by itself, because zstd gives each its own table of lengths.
 */
#include "pack.h"
#include "column.h"

#include <stdlib.h>
#include <zstd.h>

enum { LEVEL = 1 };

struct packer {
	ZSTD_CCtx *zstd;
	uint32_t cap;
	uint64_t *sites, *pops, *starts, *ends;
	uint8_t *marks;
	uint8_t *raw;
};

struct packer *packer_new(void)
{
	struct packer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->zstd = ZSTD_createCCtx();
	if (!p->zstd) {
		free(p);
		return NULL;
	}
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
	return p;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	free(p->sites);
	free(p->marks);
	free(p->raw);
	free(p);
}

static int packer_room(struct packer *p, uint32_t n)
{
	uint32_t cap = n < CALLS_PER_BLOCK ? CALLS_PER_BLOCK : n;
	uint64_t *columns;

	if (n <= p->cap)
		return 0;
	columns = realloc(p->sites, cap * 4ull * sizeof(*columns));
	if (!columns)
		return -1;
	p->sites = columns;
	free(p->marks);
	free(p->raw);
	p->cap = 0;
	p->marks = malloc(cap);
	p->raw = malloc(COLUMN_MAX(2ull * cap));
	if (!p->marks || !p->raw)
		return -1;
	p->pops = columns + cap;
	p->starts = p->pops + cap;
	p->ends = p->starts + cap;
	p->cap = cap;
	return 0;
}

static int lane_stack_room(struct lane *l, uint32_t n)
{
	uint64_t want = (uint64_t)l->n_open_at + n;
	uint64_t cap = l->cap_open_at ? l->cap_open_at : 64;
	uint64_t *p;

	if (want <= l->cap_open_at)
		return 0;
	while (cap < want)
		cap *= 2;
	if (cap > UINT32_MAX)
		return -1;
	p = realloc(l->open_at, cap * sizeof(*p));
	if (!p)
		return -1;
	l->open_at = p;
	l->cap_open_at = (uint32_t)cap;
	return 0;
}

/* A run over a lane's calls, and what it finds. */
struct pass {
	struct packer *p;
	struct lane *l;
	uint64_t tick;
	uint32_t n_ends;
	uint32_t any_mark;
	struct pack_info info;
};

/* The call under way at seq is over: write its end as a step of time. */
static inline void pass_close(struct pass *s, uint64_t seq)
{
	const struct lane_call *c = &s->l->calls[seq - s->l->first];
	uint64_t end = c->start + c->duration;
	uint8_t mark = 0;

	if (__builtin_expect(c->end == CALL_OPEN, 0)) {
		mark = PACK_LEFT_OPEN;
		end = s->tick;
	} else if (__builtin_expect(c->end == CALL_UNWOUND, 0)) {
		mark = PACK_UNWOUND;
	}
	s->p->marks[seq - s->l->first] |= mark;
	s->any_mark |= mark;
	s->p->ends[s->n_ends++] = end - s->tick;
	s->tick = end;
}

static void pass_calls(struct pass *s)
{
	struct lane *l = s->l;
	uint64_t *open_at = l->open_at, first = l->first;
	uint32_t n_open = l->n_open_at;

	memset(s->p->marks, 0, l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct lane_call *c = &l->calls[i];
		/* A caller that could not be kept leaves no hole. */
		uint32_t depth = c->depth < n_open ? c->depth : n_open;

		s->p->pops[i] = n_open - depth;
		while (n_open > depth) {
			uint64_t seq = open_at[--n_open];

			if (seq >= first)
				pass_close(s, seq);
		}
		if (i == 0) {
			s->info.depth = depth;
			s->info.parent = depth ? open_at[depth - 1] + 1 : 0;
		}
		s->p->sites[i] = c->site;
		s->p->starts[i] = c->start - s->tick;
		s->tick = c->start;
		open_at[n_open++] = first + i;
		if (__builtin_expect(c->is_seed, 0)) {
			s->p->marks[i] |= PACK_SEED;
			s->any_mark |= PACK_SEED;
		}
	}
	l->n_open_at = n_open;
}

/* Those that ended after the last entry, the innermost first.  They stay in
 * the list until the next entry shows where it stands. */
static void pass_tail(struct pass *s)
{
	const struct lane *l = s->l;
	uint32_t i = l->n_open_at, n_tail = 0;

	for (uint32_t n = 1; i > 0 && l->open_at[i - 1] >= l->first; n++) {
		uint64_t seq = l->open_at[--i];

		if (l->calls[seq - l->first].end != CALL_OPEN)
			n_tail = n;
	}
	s->info.n_tail = n_tail;
	for (i = 0; i < n_tail; i++)
		pass_close(s, l->open_at[l->n_open_at - 1 - i]);
}

void packer_compress(struct packer *p, const void *raw, size_t n,
		     struct bytes *data)
{
	size_t room = ZSTD_compressBound(n);
	uint8_t *out = bytes_reserve(data, room);
	size_t size;

	if (!out)
		return;
	size = ZSTD_compress2(p->zstd, out, room, raw, n);
	if (ZSTD_isError(size))
		data->failed = 1;
	else
		data->len += size;
}

/* Each column by itself is a zstd frame. */
static void put_column(struct packer *p, const uint64_t *values, uint32_t n,
		       struct bytes *data)
{
	packer_compress(p, p->raw, column_put(p->raw, values, n), data);
}

static void put_numbers(struct pass *s, struct bytes *data)
{
	const struct lane_call *calls = s->l->calls;
	uint64_t before = calls[0].number - 1;

	for (uint32_t i = 0; i < s->l->n; i++) {
		s->p->ends[i] = calls[i].number - before - 1;
		before = calls[i].number;
	}
	put_column(s->p, s->p->ends, s->l->n, data);
}

static void put_threads(struct pass *s, struct bytes *data)
{
	for (uint32_t i = 0; i < s->l->n; i++)
		s->p->ends[i] = s->l->calls[i].thread;
	put_column(s->p, s->p->ends, s->l->n, data);
}

/* Pairs: calls since the last marked one, and its marks. */
static void put_marks(struct pass *s, struct bytes *data)
{
	/* The columns in ends and starts are written: their room is free. */
	uint64_t *pairs = s->p->starts;
	uint32_t n = 0, last = 0;

	for (uint32_t i = 0; i < s->l->n; i++) {
		uint8_t mark = s->p->marks[i];

		if (!mark)
			continue;
		s->info.n_unwound += !!(mark & PACK_UNWOUND);
		s->info.n_seeds += !!(mark & PACK_SEED);
		pairs[n++] = i - last;
		pairs[n++] = mark;
		last = i;
	}
	s->info.n_marks = n / 2;
	put_column(s->p, pairs, n, data);
}

static uint32_t find_flags(const struct lane *l)
{
	const struct lane_call *calls = l->calls;
	uint32_t flags = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		if (calls[i].number != calls[0].number + i)
			flags |= PACK_NUMBERS;
		if (calls[i].thread != calls[0].thread)
			flags |= PACK_THREADS;
	}
	return flags;
}

static void put_info(const struct pack_info *i, struct bytes *out)
{
	bytes_put_varint(out, i->lane);
	bytes_put_varint(out, i->first_seq);
	bytes_put_varint(out, i->n_calls);
	bytes_put_varint(out, i->n_late);
	bytes_put_varint(out, i->first_number);
	bytes_put_varint(out, i->thread);
	bytes_put_varint(out, i->flags);
	bytes_put_varint(out, i->depth);
	bytes_put_varint(out, i->parent);
	bytes_put_varint(out, i->first_tick);
	bytes_put_varint(out, i->last_tick);
	bytes_put_varint(out, i->n_closed);
	bytes_put_varint(out, i->n_tail);
	bytes_put_varint(out, i->n_unwound);
	bytes_put_varint(out, i->n_seeds);
	bytes_put_varint(out, i->n_marks);
}

static void pack_columns(struct pass *s, struct bytes *data)
{
	uint32_t n = s->l->n;

	s->info.first_number = s->l->calls[0].number;
	s->info.thread = s->l->calls[0].thread;
	s->info.first_tick = s->tick = s->l->calls[0].start;
	s->info.flags = find_flags(s->l);
	pass_calls(s);
	pass_tail(s);
	s->info.last_tick = s->tick;
	s->info.n_closed = s->n_ends;
	put_column(s->p, s->p->sites, n, data);
	put_column(s->p, s->p->pops, n, data);
	put_column(s->p, s->p->starts, n, data);
	put_column(s->p, s->p->ends, s->n_ends, data);
	if (s->info.flags & PACK_NUMBERS)
		put_numbers(s, data);
	if (s->info.flags & PACK_THREADS)
		put_threads(s, data);
	if (s->any_mark)
		put_marks(s, data);
}

int packer_pack(struct packer *p, struct lane *l, struct bytes *info,
		struct bytes *data)
{
	struct pass s = {.p = p, .l = l};

	if (packer_room(p, l->n) < 0 || lane_stack_room(l, l->n) < 0)
		return CST_MEMORY;
	s.info.lane = l->index;
	s.info.first_seq = l->first;
	s.info.n_calls = l->n;
	s.info.n_late = l->n_late;
	if (l->n)
		pack_columns(&s, data);
	put_info(&s.info, info);
	for (uint32_t i = 0; i < l->n_late; i++) {
		bytes_put_varint(info, l->first - l->late[i].seq);
		bytes_put_varint(info, l->late[i].end_ticks);
		bytes_put_byte(info, l->late[i].end);
	}
	return info->failed || data->failed ? CST_MEMORY : 0;
}
