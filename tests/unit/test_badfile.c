/* SPDX-License-Identifier: MIT
 *
 * Trace files that are cut, damaged or made up: one clear line, never more.
 */
#include "area/area_file.h"
#include "trace_builder.h"
#include "file/unpack.h"

#include "area/area.h"
#include "file/block.h"
#include "area_builder.h"
#include "trace/recompress.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

/* The bytes of a whole trace file; the caller frees them. */
static uint8_t *good_file(size_t *size)
{
	struct draft d;
	struct lane *other;

	draft_begin(&d);
	draft_site(&d, "main", 0);
	draft_site(&d, "f", 1);
	writer_thread(d.w, 1, 100, 2, 101, "two");
	other = writer_lane(d.w, 1, 1, 3);
	draft_enter(&d, 0, 0);
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t seq = draft_enter(&d, 1, i * 500 + 100);

		draft_put(other,
			  (struct draft_call){.start = DRAFT_START + i * 333,
					      .number = i * 2 + 1,
					      .thread = i & 1});
		if (i % 100 == 50)
			writer_flush(d.w, NULL);
		if (i == 100 || i == 200)
			writer_hurry(d.w, i == 100);
		draft_exit(&d, seq, i * 500 + 200 + i * i);
	}
	writer_pause(d.w, DRAFT_START + 5, 1000);
	return draft_bytes(&d, 900000, size);
}

static struct output out;

static int discard(void *arg, const char *text, uint64_t size)
{
	(void)arg;
	(void)text;
	(void)size;
	return 0;
}

/* Load these bytes and put all there is into out. */
static int read_all(const uint8_t *bytes, size_t size, struct cst_error *err)
{
	const struct cst_choice all = {.std = 1};
	const struct cst_report report = {.sort = "self"};
	struct cst_trace *t;
	int64_t status;

	status = draft_load(bytes, size, &t, err);
	if (status < 0)
		return (int)status;
	out.len = 0;
	status = cst_trace_show(t, &draft_look, &all, output_write, &out, err);
	if (status >= 0)
		status = cst_trace_report(t, &report, &all, output_write, &out,
					  err);
	if (status >= 0)
		status = recompress_write(t, discard, NULL, err);
	cst_trace_free(t);
	return status < 0 ? (int)status : 0;
}

static void check_bad(const uint8_t *bytes, size_t size, const char *error)
{
	struct cst_error err = {""};

	assert_int_equal(read_all(bytes, size, &err), CST_BAD_FILE);
	assert_string_equal(err.text, error);
}

static void what_is_no_trace_is_told(void **state)
{
	(void)state;
	check_bad((const uint8_t *)"", 0,
		  "'the recorded trace' is not a cstrace trace");
	check_bad((const uint8_t *)"#!/bin/sh\necho hello\n", 21,
		  "'the recorded trace' is not a cstrace trace");
}

static void another_version_is_told(void **state)
{
	size_t size;
	uint8_t *bytes = good_file(&size);

	(void)state;
	bytes[8] = 3;
	check_bad(bytes, size,
		  "'the recorded trace' was made by another version (format 3; "
		  "this cstrace reads 1)");
	free(bytes);
}

static void files_that_are_not_files_are_told(void **state)
{
	struct cst_trace *t;
	struct cst_error err;

	(void)state;
	assert_int_equal(cst_trace_load("/dev/zero", &t, &err), CST_BAD_FILE);
	assert_string_equal(err.text, "'/dev/zero' is not a regular file");
	assert_int_equal(cst_trace_load("/no/such.cst", &t, &err), CST_FAILED);
	assert_string_equal(err.text, "cannot open '/no/such.cst': No such "
				      "file or directory");
}

static void a_cut_file_is_good_up_to_its_last_whole_block(void **state)
{
	size_t size;
	uint8_t *bytes = good_file(&size);
	struct cst_error err;

	(void)state;
	for (size_t n = 300; n < size; n++)
		if (read_all(bytes, n, &err) < 0)
			fail_msg("cut at %zu: %s", n, err.text);
	check_bad(bytes, 40,
		  "'the recorded trace' is damaged: it ends before its first "
		  "block");
	free(bytes);
}

/* Or it has no meaning: zstd has bits that no reader looks at. */
static void a_changed_byte_is_found(void **state)
{
	size_t size;
	uint8_t *bytes = good_file(&size);
	struct cst_error err;
	char *good;

	(void)state;
	assert_int_equal(read_all(bytes, size, &err), 0);
	good = strdup(out.text);
	for (size_t i = 16; i < size; i++) {
		bytes[i] ^= 0x40;
		if (read_all(bytes, size, &err) == CST_BAD_FILE)
			assert_non_null(strstr(err.text, "is damaged: "));
		else
			assert_string_equal(out.text, good);
		bytes[i] ^= 0x40;
	}
	free(good);
	free(bytes);
}

/* Where the first block of this kind begins. */
static size_t find_block(const uint8_t *bytes, uint32_t kind)
{
	size_t at = BLOCK_FILE_HEAD;

	while (get_u32(bytes + at + 4) != kind)
		at += BLOCK_HEAD + get_u32(bytes + at + 8) +
		      get_u32(bytes + at + 12);
	return at;
}

static void a_sealed_file_is_opened_by_its_index(void **state)
{
	enum { SEAL = BLOCK_HEAD + 8 };
	size_t size;
	uint8_t *bytes = good_file(&size);
	struct cst_error err;
	char *good;

	(void)state;
	assert_int_equal(find_block(bytes, BLOCK_SEAL), size - SEAL);
	assert_int_equal(read_all(bytes, size, &err), 0);
	good = strdup(out.text);
	/* Without the seal it is read from block to block. */
	assert_int_equal(read_all(bytes, size - SEAL, &err), 0);
	assert_string_equal(out.text, good);
	/* And where the index does not hold. */
	bytes[size - SEAL - 1] ^= 1;
	assert_int_equal(read_all(bytes, size, &err), 0);
	assert_string_equal(out.text, good);
	bytes[size - SEAL - 1] ^= 1;
	/* Heads of calls that the index tells are not looked at. */
	bytes[find_block(bytes, BLOCK_CALLS) + BLOCK_HEAD] ^= 1;
	out.len = 0;
	read_all(bytes, size, &err);
	assert_string_equal(out.text, good);
	assert_int_equal(read_all(bytes, size - SEAL, &err), CST_BAD_FILE);
	free(good);
	free(bytes);
}

/* The checksums do not help against somebody who can compute them: make them
 * right again behind a random change of any block's head or info. */
static void mend(uint8_t *bytes, size_t size)
{
	size_t at = BLOCK_FILE_HEAD;

	while (at + BLOCK_HEAD <= size) {
		size_t info = get_u32(bytes + at + 8);
		size_t data = get_u32(bytes + at + 12);

		if (info > size - at - BLOCK_HEAD)
			return;
		put_u32(bytes + at + 16,
			block_crc(bytes + at + BLOCK_HEAD, info));
		put_u32(bytes + at + 20, block_crc(bytes + at, 20));
		at += BLOCK_HEAD + info + data;
	}
}

static void made_up_files_do_no_harm(void **state)
{
	size_t size;
	uint8_t *good = good_file(&size), *bytes = malloc(size);
	uint64_t seed = 1;
	struct cst_error err;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		memcpy(bytes, good, size);
		for (int i = 0; i <= round % 3; i++) {
			seed = seed * 6364136223846793005u + 1;
			bytes[16 + (seed >> 33) % (size - 16)] =
				(uint8_t)(round & 1 ? seed >> 20
						    : 0xff * (seed >> 60 & 1));
		}
		mend(bytes, size);
		read_all(bytes, size, &err);
	}
	free(bytes);
	free(good);
}

enum { COLUMN_CALLS = 200 };

/* A block's columns (its lane changes threads, skips numbers, unwinds). */
static void good_columns(struct packer *p, struct bytes *info,
			 struct bytes *data)
{
	struct lane l = {.tail_seq = NO_SEQ};
	uint64_t open[8];
	uint32_t depth = 0;

	lane_begin_block(&l);
	assert_int_equal(lane_resize(&l, COLUMN_CALLS), 0);
	for (uint32_t i = 0; i < COLUMN_CALLS; i++) {
		struct lane_entry e = {.start = i * 1000,
				       .number = i * 3,
				       .above = NO_SEQ,
				       .thread = i & 1};

		while (depth > i % 7) {
			depth--;
			lane_exit(&l, open[depth], i * 1000 - 500,
				  depth % 3 ? CALL_RETURN : CALL_UNWOUND);
			if (i % 2)
				lane_add_values(&l, open[depth], "u\x05", 2, 1);
		}
		lane_note(&l, &e);
		open[depth++] = lane_enter(&l, e.start, i % 5);
		if (i % 3 == 0)
			lane_add_values(&l, open[depth - 1], "i\x07s\x02xy", 6,
					0);
	}
	assert_int_equal(packer_pack(p, &l, info, data), 0);
	lane_release(&l);
}

static void made_up_columns_do_no_harm(void **state)
{
	struct packer *p = packer_new();
	struct unpacker u = {0};
	struct bytes text = {0}, data = {0};
	struct cursor c;
	struct pack_info good, info;
	struct packed_call calls[COLUMN_CALLS];
	struct block_values values = {0};
	uint64_t numbers[COLUMN_CALLS], seed = 7;
	uint32_t threads[COLUMN_CALLS];
	uint8_t raw[65536], bad[65536];
	size_t size;
	int n_good = 0;

	(void)state;
	good_columns(p, &text, &data);
	c = (struct cursor){text.data, text.data + text.len, 0};
	assert_int_equal(pack_info_get(&c, &good), 0);
	size = ZSTD_decompress(raw, sizeof(raw), data.data, data.len);
	assert_false(ZSTD_isError(size));
	for (int round = 0; round < 50000; round++) {
		seed = seed * 6364136223846793005u + 1;
		memcpy(bad, raw, size);
		bad[(seed >> 33) % size] = (uint8_t)(seed >> 20);
		info = good;
		info.n_closed -= seed >> 61 == 1;
		info.n_tail += seed >> 61 == 2;
		info.n_marks += seed >> 61 == 3;
		info.n_values -= seed >> 61 == 4;
		info.n_value_bytes += (uint32_t)(seed >> 61 == 5);
		data.len = 0;
		packer_compress(p, bad, size, &data);
		n_good += unpacker_unpack(&u, &info, data.data, data.len, calls,
					  numbers, threads, &values) == 0;
	}
	assert_true(n_good > 0);
	unpacker_release(&u);
	block_values_release(&values);
	packer_free(p);
	bytes_release(&text);
	bytes_release(&data);
}

/* Only the frame of blocks is read when a trace is opened. */
static void a_file_may_be_cut_while_it_is_read(void **state)
{
	static const struct cst_choice all = {.std = 1};
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct cst_error err = {""};
	struct cst_trace *t;
	size_t size;
	uint8_t *bytes = good_file(&size);

	(void)state;
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	assert_int_equal(trace_open(fd, "the recorded trace", &t, &err), 0);
	assert_int_equal(ftruncate(fd, 1000), 0);
	assert_int_equal(
		cst_trace_show(t, &draft_look, &all, discard, NULL, &err),
		CST_BAD_FILE);
	assert_non_null(strstr(err.text, "is damaged: calls cannot be read"));
	cst_trace_free(t);
	free(bytes);
}

/* ---- areas that programs left in a file -----------------------------------
 */

static int leftover_fd(void)
{
	int fd = memfd_create("area", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)CST_AREA_SIZE), 0);
	leftover_head(fd);
	leftover_tables(fd, 1, "/no/app");
	leftover_chunks(fd);
	return fd;
}

static void an_area_is_read(void **state)
{
	int fd = leftover_fd();
	char path[64];
	struct cst_trace *t;
	struct cst_status_report status;
	struct cst_error err;

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(cst_trace_load(path, &t, &err), 0);
	cst_trace_status(t, &status);
	assert_int_equal(status.n_records, LEFTOVER_CHUNKS * LEFTOVER_RECORDS);
	cst_trace_free(t);
	close(fd);
}

static void an_area_may_have_records_and_no_site(void **state)
{
	int fd = leftover_fd();
	uint32_t none = 0;
	char path[64];
	struct cst_record r;
	struct cst_trace *t;
	struct cst_error err;

	(void)state;
	cst_record_set(&r, 2000, CST_FIRST_SITE - 1, 0x7fff0000, 0x7fff1000);
	leftover_put(fd, &r, sizeof(r), CST_AT_CHUNKS);
	leftover_put(fd, &none, sizeof(none),
		     offsetof(struct cst_area, n_sites));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(cst_trace_load(path, &t, &err), 0);
	cst_trace_free(t);
	close(fd);
}

static void an_area_cut_short_is_an_error(void **state)
{
	int fd = leftover_fd();
	char path[64];
	struct cst_trace *t;
	struct cst_error err;

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(ftruncate(fd, (off_t)CST_AT_CHUNKS), 0);
	assert_int_equal(cst_trace_load(path, &t, &err), CST_BAD_FILE);
	assert_non_null(strstr(err.text, "is damaged: it is cut short"));
	close(fd);
}

/* Cuts it as somebody else might, between two looks at it. */
static void an_area_may_be_cut_while_it_is_read(void **state)
{
	int fd = leftover_fd();
	struct area *a;
	struct cst_error err;

	(void)state;
	assert_int_equal(area_open_file(fd, "a", &a, &err), 0);
	area_copy(a, 0);
	assert_int_not_equal(area_chunk(a, 0)[0].time, 0);
	assert_int_equal(area_time(a, 1, 0), 3000);
	assert_int_equal(a->is_short, 0);
	assert_int_equal(ftruncate(fd, (off_t)CST_AT_SITES), 0);
	area_copy(a, 1);
	assert_int_equal(area_chunk(a, 1)[0].time, 0);
	assert_int_equal(a->sites[CST_FIRST_SITE].kind, CST_ENTER);
	assert_int_equal(a->is_short, 1);
	area_free(a);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_trace_is_told),
		cmocka_unit_test(another_version_is_told),
		cmocka_unit_test(files_that_are_not_files_are_told),
		cmocka_unit_test(a_cut_file_is_good_up_to_its_last_whole_block),
		cmocka_unit_test(a_changed_byte_is_found),
		cmocka_unit_test(a_sealed_file_is_opened_by_its_index),
		cmocka_unit_test(made_up_files_do_no_harm),
		cmocka_unit_test(made_up_columns_do_no_harm),
		cmocka_unit_test(a_file_may_be_cut_while_it_is_read),
		cmocka_unit_test(an_area_is_read),
		cmocka_unit_test(an_area_may_have_records_and_no_site),
		cmocka_unit_test(an_area_cut_short_is_an_error),
		cmocka_unit_test(an_area_may_be_cut_while_it_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
