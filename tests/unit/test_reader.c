/* SPDX-License-Identifier: MIT
 *
 * The reader on an area that the test fills as the shim would.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "area/reader.h"

struct fixture {
	struct area *area;
	struct reader reader;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	if (area_new(4, &f.area, NULL) < 0 ||
	    reader_init(&f.reader, f.area, NULL) < 0)
		return -1;
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	reader_release(&f->reader);
	area_free(f->area);
	return 0;
}

/* Chunk `i` becomes the seq-th of a thread, with records of times from..to
 * but for `hole`. */
static void fill(struct area *a, uint32_t i, uint32_t thread, uint32_t seq,
		 uint64_t from, uint64_t to, uint64_t hole)
{
	struct cst_record *records = area_chunk(a, i);

	for (uint64_t time = from; time <= to; time++)
		records[time - from].time = time == hole ? 0 : time;
	a->chunks[i].thread = thread;
	a->chunks[i].seq = seq;
	a->chunks[i].next = (uint32_t)(to - from + 1);
	a->chunks[i].state = CST_CHUNK_OPEN;
}

static void hand_over(struct area *a, uint32_t i)
{
	a->chunks[i].state = CST_CHUNK_FULL;
}

/* Read all there is; checks that times go up by one within each thread. */
static uint64_t read_all(struct fixture *f, uint64_t *next_time, int peek)
{
	struct slice slice;
	uint64_t n = 0;

	reader_scan(&f->reader);
	for (uint32_t turn = 0; turn < f->reader.n_turns; turn++) {
		while (reader_next(&f->reader, turn, peek, &slice)) {
			uint32_t whole = slice_count(&slice);

			assert_true(whole > 0);
			for (uint32_t i = 0; i < whole; i++)
				assert_int_equal(slice.records[i].time,
						 next_time[slice.thread]++);
			n += whole;
			reader_done(&f->reader, turn, whole);
		}
	}
	return n;
}

static uint32_t n_free(const struct area *a)
{
	uint32_t n = 0;

	for (uint32_t i = (uint32_t)a->head->free_head; i;
	     i = a->chunks[i - 1].next)
		n++;
	return n;
}

static void chunks_come_in_their_threads_order(void **state)
{
	struct fixture *f = *state;
	uint64_t next[2] = {1, 1000};

	fill(f->area, 2, 0, 0, 1, 10, 0);
	fill(f->area, 0, 0, 1, 11, 20, 0);
	fill(f->area, 1, 1, 0, 1000, 1005, 0);
	hand_over(f->area, 2);
	assert_int_equal(read_all(f, next, 1), 26);
	assert_int_equal(f->reader.n_records, 26);
}

/* So a drain knows that it has what was written before. */
static void oldest_of_what_was_read_is_known(void **state)
{
	struct fixture *f = *state;
	uint64_t next[2] = {11, 1000};

	fill(f->area, 2, 0, 0, 11, 20, 0);
	fill(f->area, 1, 1, 0, 1000, 1005, 0);
	f->reader.oldest = UINT64_MAX;
	read_all(f, next, 1);
	assert_int_equal(f->reader.oldest, 11);
	fill(f->area, 2, 0, 0, 11, 25, 0);
	f->reader.oldest = UINT64_MAX;
	assert_int_equal(read_all(f, next, 1), 5);
	assert_int_equal(f->reader.oldest, 21);
}

static void open_chunk_is_read_once_however_often_one_looks(void **state)
{
	struct fixture *f = *state;
	uint64_t next[1] = {1};

	fill(f->area, 0, 0, 0, 1, 5, 0);
	assert_int_equal(read_all(f, next, 0), 0);
	assert_int_equal(read_all(f, next, 1), 5);
	assert_int_equal(read_all(f, next, 1), 0);
	area_chunk(f->area, 0)[5].time = 6;
	assert_int_equal(read_all(f, next, 1), 1);
}

static void used_chunk_is_zeroed_and_free_again(void **state)
{
	struct fixture *f = *state;
	uint64_t next[1] = {1};

	fill(f->area, 0, 0, 0, 1, 5, 0);
	hand_over(f->area, 0);
	assert_int_equal(read_all(f, next, 0), 5);
	assert_int_equal(f->area->chunks[0].state, CST_CHUNK_FREE);
	assert_int_equal(area_chunk(f->area, 0)[0].time, 0);
	assert_int_equal((uint32_t)f->area->head->free_head, 1);
}

static void empty_slot_is_waited_for(void **state)
{
	struct fixture *f = *state;
	uint64_t next[1] = {1};

	fill(f->area, 0, 0, 0, 1, 5, 3);
	hand_over(f->area, 0);
	assert_int_equal(read_all(f, next, 1), 2);
	assert_int_equal(read_all(f, next, 1), 0);
	/* the interrupted hook goes on */
	area_chunk(f->area, 0)[2].time = 3;
	assert_int_equal(read_all(f, next, 1), 3);
	assert_int_equal(f->reader.n_holes, 0);
}

static void hole_that_stays_is_counted_and_its_chunk_kept(void **state)
{
	struct fixture *f = *state;
	struct slice slice;
	uint64_t n = 0;

	fill(f->area, 0, 0, 0, 1, 5, 3);
	hand_over(f->area, 0);
	/* The reader gives up after a tenth of a second of looking. */
	while (!f->reader.n_holes || n < 4) {
		reader_scan(&f->reader);
		while (reader_next(&f->reader, 0, 1, &slice)) {
			n += slice_count(&slice);
			reader_done(&f->reader, 0, slice_count(&slice));
		}
	}
	assert_int_equal(n, 4);
	assert_int_equal(f->reader.n_holes, 1);
	assert_int_equal(f->area->chunks[0].state, CST_CHUNK_FULL);
}

static void partly_done_slice_is_seen_again(void **state)
{
	struct fixture *f = *state;
	struct slice slice;
	uint64_t next[1] = {3};

	fill(f->area, 0, 0, 0, 1, 5, 0);
	reader_scan(&f->reader);
	assert_true(reader_next(&f->reader, 0, 1, &slice));
	reader_done(&f->reader, 0, 2);
	assert_int_equal(read_all(f, next, 1), 3);
}

static void wrong_indices_are_passed_over(void **state)
{
	struct fixture *f = *state;
	uint64_t next[1] = {1};

	fill(f->area, 0, UINT32_MAX, 0, 1, 5, 0);
	fill(f->area, 1, 0, 77, 1, 5, 0);
	f->area->chunks[2].state = 99;
	assert_int_equal(read_all(f, next, 1), 0);
}

static void pool_grows_without_touching_what_is_there(void **state)
{
	struct fixture *f = *state;

	area_grow(f->area);
	assert_int_equal(f->area->n_chunks, 68);
	assert_int_equal(f->area->head->n_chunks, 68);
	assert_int_equal(n_free(f->area), 68);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(chunks_come_in_their_threads_order),
		T(oldest_of_what_was_read_is_known),
		T(open_chunk_is_read_once_however_often_one_looks),
		T(used_chunk_is_zeroed_and_free_again),
		T(empty_slot_is_waited_for),
		T(hole_that_stays_is_counted_and_its_chunk_kept),
		T(partly_done_slice_is_seen_again),
		T(wrong_indices_are_passed_over),
		T(pool_grows_without_touching_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
