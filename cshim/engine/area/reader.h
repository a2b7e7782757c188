/* SPDX-License-Identifier: MIT
 *
 * Takes the records out of the area: for each thread its chunks in order,
 * each record once.  What is not written yet is left for the next round; a
 * slot that stays empty in a chunk that was handed over is a hole, counted
 * and skipped.
 */
#ifndef ENGINE_READER_H
#define ENGINE_READER_H

#include "area/area.h"

/* A run of records of one thread, in order.  It ends before n at the first
 * that is not whole (its time is 0); the first of all is. */
struct slice {
	const struct cst_record *records;
	uint32_t n;
	uint32_t thread; /* index in the area */
};

struct reader {
	struct area *area; /* borrowed */
	uint64_t n_records;
	uint64_t n_holes;
	/* private */
	struct stream *streams; /* one for each thread of the area */
	uint32_t n_streams, cap_streams;
	struct held *held; /* chunks that hold something, by thread and seq */
	uint32_t n_held;
	struct turn *turns; /* each thread's part of them */
	uint32_t n_turns;   /* as many as threads have something */
};

uint32_t slice_count(const struct slice *s);

int reader_init(struct reader *r, struct area *a, struct cst_error *err);
void reader_release(struct reader *r);

/* Look at which chunks hold something.  Returns how many were handed over
 * (what waits for us), or negative. */
int reader_scan(struct reader *r);

/* After a scan: the next run of records of the turn-th thread (turn below
 * n_turns).  With peek also those of a chunk that is still being written.
 * Returns 1, or 0: it has no more in this round. */
int reader_next(struct reader *r, uint32_t turn, int peek, struct slice *out);

/* Is there no chunk behind that of the last slice that its writer has handed
 * over? */
int reader_is_newest(const struct reader *r, uint32_t turn);

/* The first n records of that slice are done with.  What is left of it comes
 * again.  Gives the chunk back when it is used up. */
void reader_done(struct reader *r, uint32_t turn, uint32_t n);

/* Leave out all that was written up to now. */
void reader_skip_all(struct reader *r);

/* Hand over the chunks of threads that are gone; for a quiet moment. */
void reader_reclaim(struct reader *r);

#endif
