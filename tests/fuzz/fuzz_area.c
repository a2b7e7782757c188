/* SPDX-License-Identifier: MIT
 *
 * libFuzzer's way into an area that a program left as a file (one that is read
 * while it is written to: fuzz_live.c).  The input is a list of pieces,
 * each with its place, for the file itself is of 1.1 GB, nearly all holes.
 */
#include "leftover.h"
#include "rawarea.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20, PIECE_HEAD = 4 };

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

		leftover_put(fd, data + PIECE_HEAD, n,
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
	leftover_head(fd);
	leftover_tables(fd, 1, "/no/app");
	leftover_chunks(fd);
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
