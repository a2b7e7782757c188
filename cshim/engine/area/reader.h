/* SPDX-License-Identifier: MIT
 *
 * Reads the records out of the area: for each thread its chunks in order, each
 * record once.  Records that are not complete yet stay for the next round; a
 * slot that stays empty in a chunk that was handed over is a hole, counted and
 * skipped.
 *
 * A round: reader_scan(); for each turn below n_turns, reader_next() and
 * reader_done() until there is no more; area_wake().
 */
#ifndef ENGINE_READER_H
#define ENGINE_READER_H

#include "area/area.h"

/* A run of records of one thread, in order.  The first record is complete; the
 * run ends, before n, at the first that is not (its time is 0). */
struct slice {
	const struct cst_record *records;
	uint32_t n;
	uint32_t thread; /* index in the area */
};

struct reader {
	struct area *area; /* borrowed */
	uint64_t n_records;
	uint64_t n_holes;
	uint64_t oldest; /* time of the records that were done, since it was set
			  */
	/* private */
	struct stream *streams; /* one for each thread of the area */
	uint32_t n_streams, cap_streams;
	struct waiting *waiting; /* chunks with records, by thread and seq */
	uint32_t n_waiting;
	struct turn *turns; /* each thread's part of them */
	uint32_t n_turns;   /* as many as threads have something */
};

/* Returns how many records of the slice are complete. */
uint32_t slice_count(const struct slice *s);

/* Prepares r to read area a, which is borrowed.  Returns 0, or CST_MEMORY. */
int reader_init(struct reader *r, struct area *a, struct cst_error *err);
/* Frees the memory of r and zeroes it. */
void reader_release(struct reader *r);

/* Finds the chunks that have records.  Returns how many were handed over, that
 * is, wait for the reader only. */
int reader_scan(struct reader *r);

/* Puts the next run of records of the turn-th thread (turn below n_turns) into
 * *out, after a scan.  With peek it looks also into a chunk that is still being
 * written.  Returns 1, or 0 if the thread has no more in this round.  The slice
 * is valid until reader_done(). */
int reader_next(struct reader *r, uint32_t turn, int peek, struct slice *out);

/* Returns whether the chunk of the last slice is the newest that its writer has
 * handed over. */
int reader_is_newest(const struct reader *r, uint32_t turn);

/* Reports that the first n records of the last slice were read; the rest of it
 * comes again with the next call of reader_next(). Gives the chunk back when it
 * is used up. */
void reader_done(struct reader *r, uint32_t turn, uint32_t n);

/* Skips all records written up to now, without counting them. */
void reader_skip_all(struct reader *r);

/* Hands over the open chunks of threads that have ended, so that a scan finds
 * them.  It asks the kernel about each thread, so call it when the area is
 * quiet. */
void reader_reclaim(struct reader *r);

#endif
