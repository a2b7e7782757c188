/* SPDX-License-Identifier: MIT
 *
 * The values in a block of calls: as they go in they come out, however much
 * time there was to pack them, and also those of older files.
 */
#include "file/pack.h"
#include "file/unpack.h"
#include "file/writer_lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <zstd.h>
#include <cmocka.h>

enum { CALLS = 5000, FIRST_CAP = 100, DEPTH = 20, MOST = 700 };

/* What call i was given, and its result: n bytes of a kind of its own. */
struct expected {
	uint32_t n, n_result;
};

static struct expected expected[CALLS];
static uint64_t seed;

static uint32_t at_random(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

/* Mostly none or a few, seldom more than a byte can count. */
static uint32_t size_at_random(void)
{
	return at_random(3)   ? at_random(12)
	       : at_random(4) ? 0
			      : at_random(MOST);
}

static uint8_t byte_of(uint32_t call, uint32_t i, int is_result)
{
	return (uint8_t)(call * 7 + i * (is_result ? 3 : 1) + 1);
}

static void add(struct lane *l, uint32_t call, uint32_t n, int is_result)
{
	uint8_t bytes[MOST];

	for (uint32_t i = 0; i < n; i++)
		bytes[i] = byte_of(call, i, is_result);
	lane_add_values(l, call, bytes, n, is_result);
}

static void end_one(struct lane *l, uint32_t call, uint64_t tick)
{
	expected[call].n_result = size_at_random();
	lane_exit(l, call, tick, CALL_RETURN);
	add(l, call, expected[call].n_result, 1);
}

/* A block of calls in which the lane grows; some are left open. */
static void fill(struct lane *l)
{
	uint32_t open[DEPTH], n = 0;

	*l = (struct lane){.tail_seq = NO_SEQ};
	memset(expected, 0, sizeof(expected));
	lane_begin_block(l);
	assert_int_equal(lane_resize(l, FIRST_CAP), 0);
	for (uint32_t i = 0; i < CALLS; i++) {
		struct lane_entry e = {
			.start = i * 100, .number = i + 1, .above = NO_SEQ};

		while (n && (n == DEPTH || at_random(2)))
			end_one(l, open[--n], i * 100 - 50);
		if (l->n == l->cap)
			assert_int_equal(lane_resize(l, 2 * l->cap), 0);
		lane_note(l, &e);
		open[n++] = i;
		assert_int_equal(lane_enter(l, e.start, i % 50), i);
		expected[i].n = size_at_random();
		add(l, i, expected[i].n, 0);
	}
}

static void assert_bytes(const uint8_t *at, uint32_t call, uint32_t n,
			 int is_result)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(at[i], byte_of(call, i, is_result));
}

static void assert_comes_out(const struct pack_info *info,
			     const struct bytes *data)
{
	static struct packed_call calls[CALLS];
	static uint64_t numbers[CALLS];
	static uint32_t threads[CALLS];
	struct block_values values = {0};
	struct unpacker u = {0};

	assert_int_equal(unpacker_unpack(&u, info, data->data, data->len, calls,
					 numbers, threads, &values),
			 0);
	for (uint32_t i = 0; i < CALLS; i++) {
		const struct expected *e = &expected[i];
		const struct valued *v;

		assert_int_equal(calls[i].has_values, e->n || e->n_result);
		if (!calls[i].has_values)
			continue;
		v = block_values_of(&values, i);
		assert_int_equal(v->n, e->n);
		assert_int_equal(v->n_result, e->n_result);
		assert_bytes(values.bytes.data + v->at, i, v->n, 0);
		assert_bytes(values.bytes.data + v->at + v->n, i, v->n_result,
			     1);
	}
	block_values_release(&values);
	unpacker_release(&u);
}

static struct pack_info info_of(const struct bytes *b)
{
	struct cursor c = {b->data, b->data + b->len, 0};
	struct pack_info info;

	assert_int_equal(pack_info_get(&c, &info), 0);
	return info;
}

/* Packs what was stored in a hurry once more. */
static void assert_repacks(struct packer *p, const struct bytes *info,
			   const struct bytes *data)
{
	struct bytes new_info = {0}, new_data = {0};
	struct pack_info i;

	packer_hurry(p, HASTE_NONE);
	assert_int_equal(packer_repack(p, info, data, &new_info, &new_data), 1);
	i = info_of(&new_info);
	assert_int_equal(i.flags & PACK_STORED, 0);
	assert_comes_out(&i, &new_data);
	bytes_release(&new_info);
	bytes_release(&new_data);
}

static void values_come_out_as_they_went_in(void **state)
{
	struct packer *p = packer_new();

	(void)state;
	for (int round = 0; round < 60; round++) {
		enum haste haste = (enum haste)(round % 3);
		struct bytes info = {0}, data = {0};
		struct pack_info i;
		struct lane l;

		seed = (uint64_t)round;
		fill(&l);
		packer_hurry(p, haste);
		assert_int_equal(packer_pack(p, &l, &info, &data), 0);
		i = info_of(&info);
		assert_comes_out(&i, &data);
		if (haste != HASTE_NONE)
			assert_repacks(p, &info, &data);
		lane_release(&l);
		bytes_release(&info);
		bytes_release(&data);
	}
	packer_free(p);
}

/* The bytes of a large block's arguments and results are far apart. */
static void results_like_arguments_take_little_room(void **state)
{
	enum { N = PACK_CALLS_MAX, SIZE = 9 };
	struct packer *p = packer_new();
	struct bytes info = {0}, data = {0};
	struct lane l = {.tail_seq = NO_SEQ};

	(void)state;
	lane_begin_block(&l);
	assert_int_equal(lane_resize(&l, N), 0);
	for (uint32_t i = 0; i < N; i++) {
		uint64_t number = ((uint64_t)at_random(1 << 30) << 34) |
				  at_random(1 << 30);
		uint8_t bytes[SIZE] = {'U'};

		put_u64(bytes + 1, number);
		lane_note(&l, &(struct lane_entry){.start = i * 100,
						   .number = i + 1,
						   .above = NO_SEQ});
		lane_enter(&l, i * 100, 1);
		lane_add_values(&l, i, bytes, SIZE, 0);
		lane_exit(&l, i, i * 100 + 50, CALL_RETURN);
		lane_add_values(&l, i, bytes, SIZE, 1);
	}
	assert_int_equal(packer_pack(p, &l, &info, &data), 0);
	assert_in_range(data.len, N, N * 12);
	lane_release(&l);
	bytes_release(&info);
	bytes_release(&data);
	packer_free(p);
}

static void a_lane_has_the_values_of_its_open_calls(void **state)
{
	struct lane l;

	(void)state;
	seed = 99;
	fill(&l);
	for (uint32_t i = 0; i < CALLS; i += 7) {
		uint32_t n = 0;
		const uint8_t *at = lane_values_of(&l, i, &n);

		assert_int_equal(at != NULL, expected[i].n != 0);
		assert_int_equal(n, expected[i].n);
		if (at)
			assert_bytes(at, i, n, 0);
	}
	lane_begin_block(&l);
	assert_null(lane_values_of(&l, 0, &(uint32_t){0}));
	lane_release(&l);
}

/* A block as it was in files before the sizes were columns. */
static void put_older(struct bytes *raw, struct pack_info *info)
{
	struct bytes bytes = {0};
	uint8_t *memory = malloc(COLUMN_SIZE(4 * CALLS, 3));
	struct column pairs;
	uint32_t n = 0, last = 0;

	assert_non_null(memory);
	column_init(&pairs, memory, 4 * CALLS, 3);
	for (uint32_t i = 0; i < 2 * CALLS; i++) {
		uint32_t call = i / 2, is_result = i & 1;
		uint32_t size =
			is_result ? expected[call].n_result : expected[call].n;

		if (!size)
			continue;
		column_add(&pairs, n++, (call - last) * 2 + is_result);
		column_add(&pairs, n++, size);
		last = call;
		for (uint32_t k = 0; k < size; k++)
			bytes_put_byte(&bytes,
				       byte_of(call, k, (int)is_result));
	}
	column_put(&pairs, n, raw);
	bytes_put(raw, bytes.data, bytes.len);
	info->n_values = n / 2;
	info->n_value_bytes = (uint32_t)bytes.len;
	bytes_release(&bytes);
	free(memory);
}

static void values_of_older_files_are_read(void **state)
{
	struct bytes info = {0}, data = {0}, raw = {0}, old = {0};
	struct packer *p = packer_new();
	struct pack_info i;
	struct lane l;

	(void)state;
	seed = 7;
	fill(&l);
	l.n_values = 0; /* they are put in by hand */
	packer_hurry(p, HASTE_HURRY);
	assert_int_equal(packer_pack(p, &l, &info, &data), 0);
	i = info_of(&info);
	raw.len = ZSTD_decompress(bytes_reserve(&raw, 64 * CALLS), 64 * CALLS,
				  data.data, data.len);
	assert_false(ZSTD_isError(raw.len));
	put_older(&raw, &i);
	i.flags |= PACK_VALUES;
	data.len = info.len = 0;
	packer_compress(p, raw.data, raw.len, &data);
	assert_comes_out(&i, &data);
	pack_info_put(&i, &old);
	assert_repacks(p, &old, &data);
	lane_release(&l);
	packer_free(p);
	bytes_release(&info);
	bytes_release(&data);
	bytes_release(&raw);
	bytes_release(&old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_out_as_they_went_in),
		cmocka_unit_test(results_like_arguments_take_little_room),
		cmocka_unit_test(a_lane_has_the_values_of_its_open_calls),
		cmocka_unit_test(values_of_older_files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
