/* SPDX-License-Identifier: MIT
 *
 * The copy of an area that only a debugger reaches, here an area in memory that
 * the test fills as the shim would.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "area/clock.h"
#include "area/reader.h"
#include "recorder/mirror.h"

enum { THERE = 0x10000, CHUNKS = 4, RECORDS = 10 };

struct fixture {
	struct area *there; /* the program's */
	struct area *ours;
	struct reader reader;
	struct mirror mirror;
	struct cst_memory memory;
	int is_lost; /* the connection */
};

static int copy(void *arg, uint64_t addr, void *data, uint64_t n, int is_write)
{
	struct fixture *f = arg;
	uint8_t *there = (uint8_t *)f->there->head + (addr - THERE);

	if (f->is_lost || addr < THERE || addr - THERE + n > CST_AREA_SIZE)
		return -1;
	memcpy(is_write ? there : data, is_write ? data : there, n);
	return 0;
}

static int setup(void **state)
{
	static struct fixture f;
	struct cst_area *head;

	f = (struct fixture){.memory = {copy, &f}};
	f.mirror.memory = &f.memory;
	if (area_new(CHUNKS, &f.there, NULL) < 0 ||
	    area_new(CHUNKS, &f.ours, NULL) < 0 ||
	    reader_init(&f.reader, f.ours, NULL) < 0)
		return -1;
	f.ours->is_elsewhere = 1;
	head = f.there->head;
	head->flight_chunks = CHUNKS;
	head->n_processes = head->n_threads = 1;
	f.there->processes[0].pid = 7;
	f.there->threads[0].tid = 7;
	head->first_ticks = head->last_ticks = clock_ticks();
	head->first_ns = head->last_ns = clock_monotonic_ns();
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	mirror_release(&f->mirror);
	reader_release(&f->reader);
	area_free(f->there);
	area_free(f->ours);
	return 0;
}

/* Chunk i becomes the thread's seq-th, with records of times from..to-1. */
static void write_chunk(struct fixture *f, uint32_t i, uint32_t seq,
			uint32_t state, uint64_t from, uint64_t to)
{
	struct cst_chunk *c = &f->there->chunks[i];
	struct cst_record *records = area_chunk(f->there, i);

	memset(records, 0, CST_CHUNK_SIZE);
	for (uint64_t time = from; time < to; time++)
		cst_record_set(records++, f->there->head->first_ticks + time,
			       CST_FIRST_SITE, 4096, 0);
	*c = (struct cst_chunk){
		.seq = seq,
		.state = state,
		.next = state == CST_CHUNK_FULL ? (uint32_t)(to - from) : 0,
	};
}

static int fetch(struct fixture *f)
{
	return mirror_fetch(&f->mirror, f->ours, THERE, NULL);
}

/* Reads all that is there; returns the time of the last record, from the
 * first moment on, and sets *n to how many there were. */
static uint64_t read_all(struct fixture *f, uint32_t *n)
{
	uint64_t last = 0;
	struct slice slice;

	*n = 0;
	reader_scan(&f->reader);
	for (uint32_t t = 0; t < f->reader.n_turns; t++)
		while (reader_next(&f->reader, t, 1, &slice)) {
			uint32_t k = slice_count(&slice);

			last = slice.records[k - 1].time;
			*n += k;
			reader_done(&f->reader, t, k);
		}
	return last - f->there->head->first_ticks;
}

static void what_is_full_is_read_once_and_marked(void **state)
{
	struct fixture *f = *state;
	uint32_t n;

	write_chunk(f, 0, 0, CST_CHUNK_FULL, 1, 1 + RECORDS);
	write_chunk(f, 1, 1, CST_CHUNK_OPEN, 50, 53);
	assert_int_equal(fetch(f), 0);
	assert_int_equal(read_all(f, &n), 52);
	assert_int_equal(n, RECORDS + 3);
	assert_int_equal(f->there->chunks[0].state, CST_CHUNK_READ);
	assert_int_equal(f->there->chunks[1].state, CST_CHUNK_OPEN);
	assert_int_equal(f->there->head->n_flight_reads, 1);

	write_chunk(f, 1, 1, CST_CHUNK_OPEN, 50, 55);
	assert_int_equal(fetch(f), 0);
	assert_int_equal(read_all(f, &n), 54);
	assert_int_equal(n, 2);
}

static void an_open_chunk_goes_on_where_it_becomes_full(void **state)
{
	struct fixture *f = *state;
	uint32_t n;

	write_chunk(f, 2, 0, CST_CHUNK_OPEN, 1, 4);
	assert_int_equal(fetch(f), 0);
	read_all(f, &n);
	write_chunk(f, 2, 0, CST_CHUNK_FULL, 1, 1 + RECORDS);
	assert_int_equal(fetch(f), 0);
	assert_int_equal(read_all(f, &n), RECORDS);
	assert_int_equal(n, RECORDS - 3);
	assert_int_equal(f->there->chunks[2].state, CST_CHUNK_READ);
}

static void a_chunk_that_is_not_read_yet_is_left_there(void **state)
{
	struct fixture *f = *state;
	uint32_t n;

	write_chunk(f, 0, 0, CST_CHUNK_FULL, 1, 1 + RECORDS);
	assert_int_equal(fetch(f), 0);
	/* The process has used it again, our reader has not had it. */
	write_chunk(f, 0, 1, CST_CHUNK_FULL, 50, 50 + RECORDS);
	assert_int_equal(fetch(f), 0);
	assert_int_equal(f->there->chunks[0].state, CST_CHUNK_FULL);
	assert_int_equal(read_all(f, &n), RECORDS);
	assert_int_equal(fetch(f), 0);
	assert_int_equal(f->there->chunks[0].state, CST_CHUNK_READ);
	assert_int_equal(read_all(f, &n), 49 + RECORDS);
	assert_int_equal(n, RECORDS);
}

static void what_was_overwritten_counts_as_lost(void **state)
{
	struct fixture *f = *state;
	uint32_t n;

	write_chunk(f, 0, 0, CST_CHUNK_FULL, 1, 1 + RECORDS);
	assert_int_equal(fetch(f), 0);
	read_all(f, &n);
	write_chunk(f, 0, 3, CST_CHUNK_FULL, 50, 50 + RECORDS);
	assert_int_equal(fetch(f), 0);
	assert_int_equal(read_all(f, &n), 49 + RECORDS);
	assert_int_equal(n, RECORDS);
	assert_int_equal(f->ours->head->n_lost_full, 2 * CST_CHUNK_RECORDS);
}

static void what_came_before_us_is_no_loss(void **state)
{
	struct fixture *f = *state;
	uint32_t n;

	write_chunk(f, 3, 41, CST_CHUNK_FULL, 1, 1 + RECORDS);
	assert_int_equal(fetch(f), 0);
	assert_int_equal(read_all(f, &n), RECORDS);
	assert_int_equal(f->ours->head->n_lost_full, 0);
}

static void a_lost_connection_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct cst_error err;

	f->is_lost = 1;
	assert_int_equal(mirror_fetch(&f->mirror, f->ours, THERE, &err),
			 CST_FAILED);
	assert_string_equal(
		err.text, "the program's calls cannot be read from its memory");
}

static void nonsense_is_no_area(void **state)
{
	struct fixture *f = *state;

	f->there->head->layout++;
	assert_int_equal(fetch(f), CST_FAILED);
	f->there->head->layout--;
	/* Tables and chunks that cannot be are not read. */
	f->there->head->n_threads = f->there->head->n_sites = UINT32_MAX;
	f->there->head->n_processes = f->there->head->n_text = UINT32_MAX;
	f->there->head->n_mappings = f->there->head->n_chunks = UINT32_MAX;
	write_chunk(f, 0, 0, CST_CHUNK_FULL, 1, 1 + RECORDS);
	f->there->chunks[0].thread = UINT32_MAX;
	f->there->chunks[0].next = UINT32_MAX;
	assert_int_equal(fetch(f), 0);
	assert_int_equal(f->there->chunks[0].state, CST_CHUNK_FULL);
}

/* Ticks of 10 ns that began with its machine, long before or after ours. */
static void another_machines_clock_becomes_ours(void **state)
{
	struct fixture *f = *state;
	struct cst_area *head = f->there->head;
	uint64_t before = clock_ticks(), first, last;
	uint32_t mult, shift, n;
	struct slice slice;

	head->first_ticks = 1000;
	head->first_ns = 5;
	head->last_ticks = 1000 + 100000000; /* a second later */
	head->last_ns = 5 + 1000000000;
	write_chunk(f, 0, 0, CST_CHUNK_FULL, 100000000 - 100, 100000000);
	assert_int_equal(fetch(f), 0);
	reader_scan(&f->reader);
	assert_int_equal(reader_next(&f->reader, 0, 1, &slice), 1);
	n = slice_count(&slice);
	assert_int_equal(n, 100);
	first = slice.records[0].time;
	last = slice.records[n - 1].time;
	assert_true(last <= clock_ticks());
	assert_true(last + 1000000 > before);
	clock_rate(&mult, &shift);
	/* 99 ticks of 10 ns */
	assert_in_range((last - first) * mult >> shift, 980, 1000);
}

static void sites_are_told_what_is_known_of_them(void **state)
{
	struct fixture *f = *state;
	uint32_t site = CST_FIRST_SITE + 1;

	f->there->head->n_sites = CST_FIRST_SITE + 3;
	for (uint32_t i = 0; i < 3; i++)
		f->there->sites[CST_FIRST_SITE + i] =
			(struct cst_site){.callee = 4096, .kind = CST_ENTER};
	assert_int_equal(fetch(f), 0);
	f->ours->head->has_verdicts = 1;
	f->ours->sites[site].verdict = CST_COPIED;
	f->ours->copies[site] = CST_COPY_FIRST;
	f->ours->steps[0] = (struct cst_copy){.op = CST_COPY_REGISTER};
	f->ours->head->n_copies = 2;
	assert_int_equal(mirror_tell(&f->mirror, f->ours, NULL), 0);
	assert_int_equal(f->there->head->has_verdicts, 1);
	assert_int_equal(f->there->sites[site].verdict, CST_COPIED);
	assert_int_equal(f->there->sites[site - 1].verdict, CST_RECORDED);
	assert_int_equal(f->there->copies[site], CST_COPY_FIRST);
	assert_int_equal(f->there->steps[0].op, CST_COPY_REGISTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(what_is_full_is_read_once_and_marked),
		TEST(an_open_chunk_goes_on_where_it_becomes_full),
		TEST(a_chunk_that_is_not_read_yet_is_left_there),
		TEST(what_was_overwritten_counts_as_lost),
		TEST(what_came_before_us_is_no_loss),
		TEST(a_lost_connection_is_an_error),
		TEST(nonsense_is_no_area),
		TEST(another_machines_clock_becomes_ours),
		TEST(sites_are_told_what_is_known_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
