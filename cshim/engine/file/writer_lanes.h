/* SPDX-License-Identifier: MIT
 *
 * The lanes of a writer: how one is made and filled.
 */
#ifndef ENGINE_WRITER_LANES_H
#define ENGINE_WRITER_LANES_H

#include "file/lane_block.h"

struct writer;

/* Makes a lane of a process for the thread's own stack (ordinal 0) or another
 * one (its number from 1). It is valid until the writer's end.  Returns NULL
 * when out of memory. */
struct lane *writer_lane(struct writer *w, uint32_t process, uint32_t thread,
			 uint32_t ordinal);

/* Makes the lane ready for a call for which lane_is_plain() is not true: makes
 * room, begins a new block, keeps what is special.  Returns 0, or a negative
 * number if the call cannot be kept. */
int lane_prepare(struct lane *l, const struct lane_entry *e);

/* Ends a call whose block is in the file already: the rare half of
 * lane_exit(). */
void lane_end_late(struct lane *l, uint64_t seq, uint64_t end_ticks,
		   enum call_end end);

/* Adds values to the call that was entered last, or a result to the one that
 * was ended last, as lane_add_values() does.  The block is written once it has
 * many. */
void lane_keep_values(struct lane *l, uint64_t seq, const void *data,
		      uint32_t n, int is_result);
/* Likewise those that stand in the lane, as lane_note_values() does. */
void lane_keep_noted(struct lane *l, uint64_t seq, size_t at, int is_result);

enum { LANE_VALUE_BYTES = 256 << 10 }; /* of a block */

/* Writes the block of a lane that has calls. */
void lane_write(struct lane *l);

/* Writes the block if it has many bytes of values. */
INLINE void lane_write_many_values(struct lane *l)
{
	if (unlikely(l->value_bytes.len + l->result_bytes.len +
			     l->late_bytes.len >
		     LANE_VALUE_BYTES))
		lane_write(l);
}

/* Ends, at end_ticks, the lane's innermost call that is open and was kept; does
 * nothing for NO_SEQ. */
INLINE void lane_exit(struct lane *l, uint64_t seq, uint64_t end_ticks,
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
		lane_mark_end(l, seq, end);
}

#endif
