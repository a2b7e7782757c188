/* SPDX-License-Identifier: MIT
 *
 * The reading half of pack.c.  The bytes may be anybody's: each count is
 * checked before it is used.
 */
#include "file/unpack.h"
#include "base/array.h"
#include "base/search.h"

#include <stdlib.h>
#include <zstd.h>

void unpacker_release(struct unpacker *u)
{
	free(u->raw);
	free(u->columns);
	free(u->stack);
	ZSTD_freeDCtx(u->zstd);
	*u = (struct unpacker){0};
}

int pack_info_get(struct cursor *c, struct pack_info *out)
{
	struct pack_info i = {0};

	i.lane = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	i.first_seq = cursor_varint_max(c, UINT64_MAX / 2);
	i.n_calls = (uint32_t)cursor_varint_max(c, PACK_CALLS_MAX);
	i.n_late = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	i.first_number = cursor_varint(c);
	i.thread = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	i.flags = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	i.depth = (uint32_t)cursor_varint_max(c, UINT32_MAX / 2);
	i.parent = cursor_varint(c);
	i.first_tick = cursor_varint(c);
	i.last_tick = cursor_varint(c);
	i.n_closed = (uint32_t)cursor_varint_max(c, i.n_calls);
	i.n_tail = (uint32_t)cursor_varint_max(c, i.n_closed);
	i.n_unwound = (uint32_t)cursor_varint_max(c, i.n_calls);
	i.n_seeds = (uint32_t)cursor_varint_max(c, i.n_calls);
	i.n_marks = (uint32_t)cursor_varint_max(c, i.n_calls);
	if (i.flags & PACK_NOTES)
		i.n_notes =
			(uint32_t)cursor_varint_max(c, i.n_calls - i.n_seeds);
	if (i.flags & PACK_VALUES) {
		i.n_values = (uint32_t)cursor_varint_max(c, 2ull * i.n_calls);
		i.n_value_bytes =
			(uint32_t)cursor_varint_max(c, PACK_VALUES_MAX);
	}
	/* Each call has its caller before it in the lane; three bytes is the
	 * least a late end takes. */
	if (c->failed || i.depth > i.first_seq ||
	    i.n_late > (uint64_t)(c->end - c->p) / 3 ||
	    i.flags & ~(uint32_t)(PACK_NUMBERS | PACK_THREADS | PACK_STORED |
				  PACK_NOTES | PACK_VALUES | PACK_SIZES))
		return CST_BAD_FILE;
	*out = i;
	return 0;
}

int pack_late_get(struct cursor *c, struct late_end *out)
{
	int has_result;

	out->seq = cursor_varint(c);
	out->end_ticks = cursor_varint(c);
	out->end = cursor_byte(c);
	out->thrown = out->n_result = 0;
	has_result = out->end & PACK_END_RESULT;
	out->end &= (uint8_t)~PACK_END_RESULT;
	if (out->end == PACK_END_ESTIMATED) {
		out->end = CALL_ESTIMATED;
	} else if (out->end == PACK_END_THROWN) {
		out->end = CALL_UNWOUND;
		out->thrown =
			1 + (uint32_t)cursor_varint_max(c, UINT32_MAX - 1);
	}
	if (has_result) {
		out->n_result = (uint32_t)cursor_varint_max(
			c, (uint64_t)(c->end - c->p));
		out->result = c->p;
		if (out->n_result > (size_t)(c->end - c->p))
			return CST_BAD_FILE;
		c->p += out->n_result;
	}
	if (c->failed || out->end < CALL_RETURN || out->end > CALL_ESTIMATED)
		return CST_BAD_FILE;
	return 0;
}

static int unpacker_room(struct unpacker *u, const struct pack_info *info)
{
	uint32_t n = info->n_calls;
	uint32_t cap = n < CALLS_PER_BLOCK ? CALLS_PER_BLOCK : n;
	size_t size = PACK_RAW_MAX(cap) + PACK_VALUES_RAW_MAX(info);

	if (!u->zstd)
		u->zstd = ZSTD_createDCtx();
	if (n > u->cap || size > u->raw_size) {
		unpacker_release(u);
		u->zstd = ZSTD_createDCtx();
	}
	if (u->cap)
		return u->zstd ? 0 : CST_MEMORY;
	u->raw_size = size;
	u->raw = malloc(u->raw_size + 8);
	u->columns = malloc(sizeof(*u->columns) * cap * 4ull);
	u->stack = malloc(sizeof(*u->stack) * cap);
	if (!u->zstd || !u->raw || !u->columns || !u->stack) {
		unpacker_release(u);
		return CST_MEMORY;
	}
	u->cap = cap;
	return 0;
}

/* Where the columns of one block lie.  rebuild() turns the steps of the ends
 * into the calls that ended. */
struct columns {
	const uint64_t *sites, *pops, *starts;
	uint64_t *ends;
};

static void close_call(struct packed_call *calls, uint32_t i, uint64_t *tick,
		       uint64_t *end)
{
	*tick += *end;
	calls[i].duration = *tick - calls[i].start;
	calls[i].end = CALL_RETURN;
	*end = i;
}

/* The calls' entries in order, each closing those before it that are at its
 * depth or deeper. */
static int rebuild(const struct pack_info *info, const struct columns *in,
		   uint32_t *stack, struct packed_call *calls)
{
	uint64_t tick = info->first_tick;
	uint64_t level = info->depth + in->pops[0]; /* of the next, no pops */
	uint32_t n_open = 0, n_ends = 0;

	for (uint32_t i = 0; i < info->n_calls; i++) {
		struct packed_call *c = &calls[i];
		uint64_t pops = in->pops[i];
		uint32_t n = pops < n_open ? (uint32_t)pops : n_open;

		if (pops > level || n > info->n_closed - n_ends)
			return CST_BAD_FILE;
		for (; n; n--)
			close_call(calls, stack[--n_open], &tick,
				   &in->ends[n_ends++]);
		level -= pops;
		tick += in->starts[i];
		c->start = tick;
		c->duration = 0;
		c->site = (uint32_t)in->sites[i];
		c->depth = (uint32_t)level++;
		c->end = CALL_OPEN;
		c->is_seed = 0;
		c->has_values = 0;
		c->thrown = 0;
		stack[n_open++] = i;
	}
	if (info->n_tail > n_open || n_ends + info->n_tail != info->n_closed)
		return CST_BAD_FILE;
	for (uint32_t i = 0; i < info->n_tail; i++)
		close_call(calls, stack[--n_open], &tick, &in->ends[n_ends++]);
	return 0;
}

static int get_numbers(struct cursor *c, const struct pack_info *info,
		       uint64_t *column, uint64_t *numbers)
{
	uint64_t number = info->first_number - 1;

	column_get(c, column, info->n_calls);
	if (c->failed)
		return CST_BAD_FILE;
	for (uint32_t i = 0; i < info->n_calls; i++)
		numbers[i] = number += column[i] + 1;
	return 0;
}

static int get_threads(struct cursor *c, const struct pack_info *info,
		       uint64_t *column, uint32_t *threads)
{
	column_get(c, column, info->n_calls);
	if (c->failed)
		return CST_BAD_FILE;
	for (uint32_t i = 0; i < info->n_calls; i++)
		threads[i] = column[i] < UINT32_MAX ? (uint32_t)column[i]
						    : UINT32_MAX;
	return 0;
}

static int get_marks(struct cursor *c, const struct pack_info *info,
		     uint64_t *pairs, struct packed_call *calls)
{
	uint64_t at = 0;

	column_get(c, pairs, info->n_marks * 2);
	if (c->failed)
		return CST_BAD_FILE;
	for (uint32_t i = 0; i < info->n_marks; i++) {
		uint64_t mark = pairs[i * 2 + 1];
		struct packed_call *call;

		if (pairs[i * 2] >= info->n_calls - at)
			return CST_BAD_FILE;
		at += pairs[i * 2];
		call = &calls[at];
		if ((mark & PACK_ESTIMATED) == PACK_ESTIMATED) {
			call->end = CALL_ESTIMATED;
		} else if (mark & PACK_LEFT_OPEN) {
			call->end = CALL_OPEN;
			call->duration = 0;
		} else if (mark & PACK_UNWOUND) {
			call->end = CALL_UNWOUND;
			if (mark / PACK_THROWN <= UINT32_MAX)
				call->thrown = (uint32_t)(mark / PACK_THROWN);
		}
		call->is_seed = !!(mark & PACK_SEED);
	}
	return 0;
}

/* ---- values ---------------------------------------------------------------
 */

void block_values_release(struct block_values *v)
{
	free(v->all);
	bytes_release(&v->bytes);
	*v = (struct block_values){0};
}

/* The first one of that call or of a later one. */
static uint32_t values_at(const struct block_values *v, uint32_t call)
{
	return search_while(i, v->n, v->all[i].call < call);
}

const struct valued *block_values_of(const struct block_values *v,
				     uint32_t call)
{
	return &v->all[values_at(v, call)];
}

int block_values_result(struct block_values *v, uint32_t call,
			const uint8_t *result, uint32_t n)
{
	uint32_t at = values_at(v, call);
	struct valued *one;
	size_t begin = v->bytes.len;

	if (array_room(&v->all, &v->cap, v->n + 1ull) < 0)
		return CST_MEMORY;
	one = &v->all[at];
	if (at == v->n || one->call != call) {
		memmove(one + 1, one, (v->n - at) * sizeof(*one));
		*one = (struct valued){.call = call};
		v->n++;
	}
	if (one->n_result)
		return 0;
	/* The values move to where the result is. */
	if (!bytes_reserve(&v->bytes, one->n + (size_t)n))
		return CST_MEMORY;
	bytes_put(&v->bytes, v->bytes.data + one->at, one->n);
	bytes_put(&v->bytes, result, n);
	one->at = (uint32_t)begin;
	one->n_result = n;
	return 0;
}

/* The sum of n sizes; more than PACK_VALUES_MAX where one is too large. */
static uint64_t sum_of(const uint64_t *sizes, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n && sum <= PACK_VALUES_MAX; i++)
		sum = sizes[i] > PACK_VALUES_MAX ? sizes[i] : sum + sizes[i];
	return sum;
}

/* Puts the bytes of each call's values, and behind them those of its result:
 * results[call] is where among the bytes it lies, and its size. */
static int join_values(const struct pack_info *info, const uint8_t *bytes,
		       const uint64_t *sizes, const uint64_t *results,
		       struct packed_call *calls, struct block_values *out)
{
	uint64_t at = 0;

	if (array_room(&out->all, &out->cap, info->n_values + 1ull) < 0)
		return CST_MEMORY;
	for (uint32_t i = 0; i < info->n_calls; i++) {
		uint32_t n = (uint32_t)sizes[i],
			 n_result = (uint32_t)results[i];

		if (!n && !n_result)
			continue;
		if (out->n == info->n_values)
			return CST_BAD_FILE;
		out->all[out->n++] = (struct valued){
			i, (uint32_t)out->bytes.len, n, n_result};
		calls[i].has_values = 1;
		bytes_put(&out->bytes, bytes + at, n);
		bytes_put(&out->bytes, bytes + (results[i] >> 32), n_result);
		at += n;
	}
	return out->bytes.failed ? CST_MEMORY : 0;
}

/* ended[i] is the call that ended as the i-th. */
static int get_values(struct cursor *c, const struct pack_info *info,
		      uint64_t *column, uint32_t cap, const uint64_t *ended,
		      struct packed_call *calls, struct block_values *out)
{
	uint64_t *sizes = column, *by_end = column + cap;
	uint64_t *results = column + 2ull * cap, at, n_bytes;
	const uint8_t *bytes;

	column_get(c, sizes, info->n_calls);
	column_get(c, by_end, info->n_closed);
	if (c->failed)
		return CST_BAD_FILE;
	at = sum_of(sizes, info->n_calls);
	n_bytes = at + sum_of(by_end, info->n_closed);
	if (n_bytes != info->n_value_bytes || (size_t)(c->end - c->p) < n_bytes)
		return CST_BAD_FILE;
	bytes = c->p;
	c->p += n_bytes;
	memset(results, 0, info->n_calls * sizeof(*results));
	for (uint32_t i = 0; i < info->n_closed; i++) {
		results[ended[i]] = at << 32 | by_end[i];
		at += by_end[i];
	}
	return join_values(info, bytes, sizes, results, calls, out);
}

/* Does the same for a file without PACK_SIZES. */
static int get_pairs(struct cursor *c, const struct pack_info *info,
		     uint64_t *pairs, struct packed_call *calls,
		     struct block_values *out)
{
	uint64_t at = 0, n_bytes = 0;

	column_get(c, pairs, info->n_values * 2);
	if (c->failed || (size_t)(c->end - c->p) < info->n_value_bytes ||
	    array_room(&out->all, &out->cap, info->n_values + 1ull) < 0)
		return CST_BAD_FILE;
	for (uint32_t i = 0; i < info->n_values; i++) {
		uint64_t step = pairs[i * 2] / 2, n = pairs[i * 2 + 1];
		struct valued *v = out->n ? &out->all[out->n - 1] : NULL;
		int is_result = pairs[i * 2] & 1;

		if (step >= info->n_calls - at ||
		    n > info->n_value_bytes - n_bytes ||
		    (v && !step && (!is_result || v->n_result)))
			return CST_BAD_FILE;
		at += step;
		if (!v || step) {
			v = &out->all[out->n++];
			*v = (struct valued){.call = (uint32_t)at,
					     .at = (uint32_t)n_bytes};
			calls[at].has_values = 1;
		}
		*(is_result ? &v->n_result : &v->n) = (uint32_t)n;
		n_bytes += n;
	}
	bytes_put(&out->bytes, c->p, info->n_value_bytes);
	c->p += info->n_value_bytes;
	return n_bytes == info->n_value_bytes && !out->bytes.failed
		       ? 0
		       : CST_BAD_FILE;
}

static int unpack_columns(struct unpacker *u, const struct pack_info *info,
			  struct cursor *c, struct packed_call *calls,
			  uint64_t *numbers, uint32_t *threads,
			  struct block_values *values)
{
	uint32_t n = info->n_calls;
	uint64_t *column = u->columns;
	int status = 0;
	struct columns in = {column, column + u->cap, column + 2ull * u->cap,
			     column + 3ull * u->cap};

	column_get(c, column, n);
	column_get(c, column + u->cap, n);
	column_get(c, column + 2ull * u->cap, n);
	column_get(c, column + 3ull * u->cap, info->n_closed);
	if (c->failed || rebuild(info, &in, u->stack, calls) < 0)
		return CST_BAD_FILE;
	u->largest_site = 0;
	for (uint32_t i = 0; i < n; i++)
		if (in.sites[i] > u->largest_site)
			u->largest_site = in.sites[i];
	if (info->flags & PACK_NUMBERS && get_numbers(c, info, column, numbers))
		return CST_BAD_FILE;
	if (info->flags & PACK_THREADS && get_threads(c, info, column, threads))
		return CST_BAD_FILE;
	if (info->n_marks && get_marks(c, info, column, calls) < 0)
		return CST_BAD_FILE;
	if (!info->n_values)
		;
	else if (info->flags & PACK_SIZES)
		status = get_values(c, info, column, u->cap, in.ends, calls,
				    values);
	else
		status = get_pairs(c, info, column, calls, values);
	if (status < 0)
		return status;
	return c->p == c->end ? 0 : CST_BAD_FILE;
}

int unpacker_unpack(struct unpacker *u, const struct pack_info *info,
		    const uint8_t *data, size_t size, struct packed_call *calls,
		    uint64_t *numbers, uint32_t *threads,
		    struct block_values *values)
{
	struct cursor c;
	size_t raw;

	values->n = 0;
	values->bytes.len = 0;
	if (!info->n_calls)
		return 0;
	if (unpacker_room(u, info) < 0)
		return CST_MEMORY;
	raw = ZSTD_decompressDCtx(u->zstd, u->raw, u->raw_size, data, size);
	if (ZSTD_isError(raw))
		return CST_BAD_FILE;
	memset(u->raw + raw, 0, 8);
	c = (struct cursor){u->raw, u->raw + raw, 0};
	return unpack_columns(u, info, &c, calls, numbers, threads, values);
}
