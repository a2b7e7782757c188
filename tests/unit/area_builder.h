/* SPDX-License-Identifier: MIT
 *
 * What a program writes into its area, written by hand: a thread, eight sites
 * and four full chunks, into any file that is as large as an area.
 */
#ifndef UNIT_AREA_BUILDER_H
#define UNIT_AREA_BUILDER_H

#include "cstrace/layout.h"

#include <stdlib.h>
#include <unistd.h>

enum { LEFTOVER_CHUNKS = 4, LEFTOVER_RECORDS = 20, LEFTOVER_SITES = 8 };

static inline void leftover_put(int fd, const void *bytes, size_t size,
				uint64_t at)
{
	if (at + size <= CST_AREA_SIZE &&
	    pwrite(fd, bytes, size, (off_t)at) != (ssize_t)size)
		abort();
}

/* Writes the head of a program that has ended and noted its clock at both
 * ends. */
static inline void leftover_head(int fd)
{
	struct cst_area head = {
		.magic = CST_AREA_MAGIC,
		.layout = CST_LAYOUT,
		.size = CST_AREA_SIZE,
		.n_processes = 1,
		.n_threads = 1,
		.n_sites = CST_FIRST_SITE + LEFTOVER_SITES,
		.n_chunks = LEFTOVER_CHUNKS,
		.has_mappings = 1,
		.is_file = 1,
		.n_mappings = 1,
		.n_text = 64,
		.first_ticks = 1000,
		.last_ticks = 3000000,
		.last_ns = 1000000,
	};

	leftover_put(fd, &head, sizeof(head), 0);
}

/* module: its code is all that is mapped. */
static inline void leftover_tables(int fd, uint32_t pid, const char *module)
{
	struct cst_process process = {.pid = pid, .start = 1000};
	struct cst_thread thread = {.tid = pid, .n_claimed = LEFTOVER_CHUNKS};
	struct cst_mapping mapping = {.n_sites = CST_FIRST_SITE,
				      .is_complete = 1};
	static const char line[] = "1000-9000 r-xp 00001000 00:00 7 ";
	uint64_t at = CST_AT_TEXT;

	leftover_put(fd, &process, sizeof(process), CST_AT_PROCESSES);
	leftover_put(fd, &thread, sizeof(thread), CST_AT_THREADS);
	leftover_put(fd, &mapping, sizeof(mapping), CST_AT_MAPPINGS);
	leftover_put(fd, line, sizeof(line), at);
	for (at += sizeof(line) - 1; *module; module++)
		leftover_put(fd, module, 1, at++);
	for (uint32_t i = 0; i < LEFTOVER_SITES; i++) {
		struct cst_site site = {.callee = 0x1000 + (i & 6u) * 0x100,
					.caller = 0x1010 + (i & 4u) * 0x100,
					.hook = 0x1020 + i * 0x100,
					.kind = (uint16_t)(1 + i % 2)};

		leftover_put(fd, &site, sizeof(site),
			     CST_AT_SITES +
				     (CST_FIRST_SITE + i) * sizeof(site));
	}
}

static inline void leftover_chunks(int fd)
{
	for (uint32_t i = 0; i < LEFTOVER_CHUNKS; i++) {
		struct cst_chunk chunk = {.state = CST_CHUNK_FULL, .seq = i};
		struct cst_record records[LEFTOVER_RECORDS];

		for (uint32_t k = 0; k < LEFTOVER_RECORDS; k++)
			cst_record_set(&records[k], 2000 + i * 1000 + k * 10,
				       CST_FIRST_SITE + k % LEFTOVER_SITES,
				       0x7fff0000 - k % 4 * 64, 0x7fff1000);
		leftover_put(fd, records, sizeof(records),
			     CST_AT_CHUNKS + (uint64_t)i * CST_CHUNK_SIZE);
		leftover_put(fd, &chunk, sizeof(chunk),
			     CST_AT_CHUNK_STATES + i * sizeof(chunk));
	}
}

/* ---- for fuzzers ----------------------------------------------------------
 */

enum { LEFTOVER_PIECE = 4 };

/* Returns how many bytes a piece (region, index in it in two bytes, length,
 * bytes) has, and its place in *at; size is more than LEFTOVER_PIECE. */
static inline size_t leftover_piece(const uint8_t *data, size_t size,
				    uint64_t *at)
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
	uint64_t index = data[1] | (uint64_t)data[2] << 8;

	*at = regions[data[0] % 8].at + index * regions[data[0] % 8].step;
	return data[3] < size - LEFTOVER_PIECE ? data[3]
					       : size - LEFTOVER_PIECE;
}

#endif
