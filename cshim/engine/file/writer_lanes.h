/* SPDX-License-Identifier: MIT
 *
 * The lanes of a writer: how one is made, filled and ended.
 */
#ifndef ENGINE_WRITER_LANES_H
#define ENGINE_WRITER_LANES_H

#include "file/lane_block.h"

struct writer;

/* A new lane of a process; ordinal 0 for each thread's own stack, else the
 * number of another stack.  Valid until writer_lane_end() (which flushes it
 * when its thread is gone, and frees it) or the writer's end. */
struct lane *writer_lane(struct writer *w, uint32_t process, uint32_t thread,
			 uint32_t ordinal);
void writer_lane_end(struct writer *w, struct lane *l);
/* Frees l; its calls that are not written yet are dropped. */
void writer_lane_free(struct lane *l);

/* Make ready for the next call, where it is not plain or a seed: room, a new
 * block.  Negative: it cannot be kept. */
int lane_prepare(struct lane *l, const struct lane_entry *e);

/* The cold half of lane_exit(), for a call whose block is in the file already.
 */
void lane_end_late(struct lane *l, uint64_t seq, uint64_t end_ticks,
		   enum call_end end);

/* End the lane's innermost open call of those that were kept; nothing happens
 * for NO_SEQ. */
static inline void lane_exit(struct lane *l, uint64_t seq, uint64_t end_ticks,
			     enum call_end end)
{
	uint64_t step = end_ticks - l->tick;

	/* Also false for NO_SEQ. */
	if (__builtin_expect(seq - l->first >= l->n, 0)) {
		lane_end_late(l, seq, end_ticks, end);
		return;
	}
	l->tick = end_ticks;
	column_add(&l->columns[LANE_ENDS], l->n_ends++, step);
	if (__builtin_expect(end != CALL_RETURN, 0))
		lane_mark_unwound(l, seq);
}

#endif
