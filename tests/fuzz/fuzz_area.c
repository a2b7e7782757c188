/* SPDX-License-Identifier: MIT
 *
 * libFuzzer's way into an area that a program left as a file (one that is read
 * while it is written to: fuzz_live.c).  The input is a list of pieces,
 * each with its place, for the file itself is of 1.1 GB, nearly all holes.
 */
#include "area_builder.h"
#include "fuzz_text.h"
#include "recorder/rawarea.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_pieces(int fd, const uint8_t *data, size_t size)
{
	while (size > LEFTOVER_PIECE) {
		uint64_t at;
		size_t n = leftover_piece(data, size, &at);

		leftover_put(fd, data + LEFTOVER_PIECE, n, at);
		data += LEFTOVER_PIECE + n;
		size -= LEFTOVER_PIECE + n;
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
