/* SPDX-License-Identifier: MIT
 *
 * libFuzzer's way into an area that a program left as a file, or wrote into
 * while it was read: the tables are the same.  The input is a list of pieces,
 * each with its place, for the file itself is of 1.1 GB, nearly all holes.
 */
#include "rawarea.h"
#include "trace.h"

#include "cstrace/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20, PIECE_HEAD = 4, N_CHUNKS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count_write(void *arg, const char *text, uint64_t size)
{
	uint64_t *left = arg;

	for (uint64_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < 0x20 && text[i] != '\n')
			abort();
	if (size > *left)
		return -1;
	*left -= size;
	return 0;
}

/* ---- the file ------------------------------------------------------------ */

static void put(int fd, const void *bytes, size_t size, uint64_t at)
{
	if (at + size <= CST_AREA_SIZE &&
	    pwrite(fd, bytes, size, (off_t)at) != (ssize_t)size)
		abort();
}

/* What a run of one thread with eight sites left: main and f, in turn. */
static void put_run(int fd)
{
	struct cst_area head = {
		.magic = CST_AREA_MAGIC,
		.layout = CST_LAYOUT,
		.size = CST_AREA_SIZE,
		.n_processes = 1,
		.n_threads = 1,
		.n_sites = CST_FIRST_SITE + 8,
		.n_chunks = N_CHUNKS,
		.has_mappings = 1,
		.is_file = 1,
		.n_mappings = 1,
		.n_text = 64,
		.first_ticks = 1000,
		.last_ticks = 3000000,
		.last_ns = 1000000,
	};
	struct cst_process process = {.pid = 1, .start = 1000};
	struct cst_thread thread = {.tid = 1, .n_claimed = N_CHUNKS};
	struct cst_mapping mapping = {.n_sites = CST_FIRST_SITE, .is_whole = 1};
	static const char text[] = "1000-9000 r-xp 00000000 00:00 7 /no/app";

	put(fd, &head, sizeof(head), 0);
	put(fd, &process, sizeof(process), CST_AT_PROCESSES);
	put(fd, &thread, sizeof(thread), CST_AT_THREADS);
	put(fd, &mapping, sizeof(mapping), CST_AT_MAPPINGS);
	put(fd, text, sizeof(text), CST_AT_TEXT);
	for (uint32_t i = 0; i < 8; i++) {
		struct cst_site site = {.callee = 0x1000 + (i & 6u) * 0x100,
					.caller = 0x1010 + (i & 4u) * 0x100,
					.hook = 0x1020 + i * 0x100,
					.kind = (uint16_t)(1 + i % 2)};

		put(fd, &site, sizeof(site),
		    CST_AT_SITES + (CST_FIRST_SITE + i) * sizeof(site));
	}
}

static void put_chunks(int fd)
{
	for (uint32_t i = 0; i < N_CHUNKS; i++) {
		struct cst_chunk chunk = {.state = CST_CHUNK_FULL, .seq = i};
		struct cst_record records[20];

		for (uint32_t k = 0; k < 20; k++)
			cst_record_set(&records[k], 2000 + i * 1000 + k * 10,
				       CST_FIRST_SITE + k % 8,
				       0x7fff0000 - k % 4 * 64, 0x7fff1000);
		put(fd, &chunk, sizeof(chunk),
		    CST_AT_CHUNK_STATES + i * sizeof(chunk));
		put(fd, records, sizeof(records),
		    CST_AT_CHUNKS + (uint64_t)i * CST_CHUNK_SIZE);
	}
}

/* Region, index (two bytes), length; then the bytes. */
static void put_pieces(int fd, const uint8_t *data, size_t size)
{
	static const struct {
		uint64_t at, step;
	} regions[] = {
		{0, 8},
		{CST_AT_PROCESSES, sizeof(struct cst_process)},
		{CST_AT_THREADS, sizeof(struct cst_thread)},
		{CST_AT_CHUNK_STATES, sizeof(struct cst_chunk)},
		{CST_AT_MAPPINGS, sizeof(struct cst_mapping)},
		{CST_AT_TEXT, 1},
		{CST_AT_SITES, sizeof(struct cst_site)},
		{CST_AT_CHUNKS, CST_RECORD_SIZE},
	};

	while (size > PIECE_HEAD) {
		size_t n = data[3] < size - PIECE_HEAD ? data[3]
						       : size - PIECE_HEAD;
		uint64_t index = data[1] | (uint64_t)data[2] << 8;

		put(fd, data + PIECE_HEAD, n,
		    regions[data[0] % 8].at +
			    index * regions[data[0] % 8].step);
		data += PIECE_HEAD + n;
		size -= PIECE_HEAD + n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct cst_look look = {.duration = 1, .callsite = 1};
	static const struct cst_choice all = {.std = 1};
	uint64_t left = OUTPUT_MAX;
	struct cst_error err;
	struct cst_trace *t;
	int fd = memfd_create("area", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)CST_AREA_SIZE) < 0)
		abort();
	put_run(fd);
	put_chunks(fd);
	put_pieces(fd, data, size);
	if (rawarea_is(fd) && rawarea_load(fd, "area", &t, &err) == 0) {
		cst_trace_show(t, &look, &all, count_write, &left, &err);
		left = OUTPUT_MAX;
		cst_trace_write(t, "jsonl", &look, &all, count_write, &left,
				&err);
		cst_trace_free(t);
	}
	close(fd);
	return 0;
}
