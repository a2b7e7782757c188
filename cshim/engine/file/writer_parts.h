/* SPDX-License-Identifier: MIT
 *
 * The parts of a writer, for writer.c (its blocks) and writer_lanes.c (the
 * lanes that calls wait on).
 */
#ifndef ENGINE_WRITER_PARTS_H
#define ENGINE_WRITER_PARTS_H

#include "file/index.h"
#include "file/meta_write.h"
#include "file/spool.h"
#include "file/writer.h"

/* The size in bytes at which a block of names or threads is closed. */
enum { WRITER_PLAIN_SIZE = 256 << 10 };

struct writer {
	struct spool spool;
	struct index index;
	struct names *names;
	struct packer *packer;
	struct lane **lanes;
	uint32_t n_lanes, cap_lanes;
	struct thread_record *threads;
	uint32_t n_threads, cap_threads;
	uint64_t n_room;		    /* sum of the lanes' cap */
	uint64_t limit_bytes, flight_bytes; /* 0: none */
	struct cst_losses losses;
	uint64_t end_ticks;
	int is_full, is_changed;
	enum haste haste;
	struct bytes people, pauses, ends, modules; /* not yet written */
	struct bytes stacks, samples;		    /* likewise */
	uint64_t sampled_tick;	 /* of the last sample in `samples` */
	uint64_t n_samples_lost; /* once it was full */
	struct bytes info, data, plain;
};

#endif
