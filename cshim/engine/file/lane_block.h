/* SPDX-License-Identifier: MIT
 *
 * A lane is one stack of the program: a thread's own, a coroutine's, or a
 * signal handler's.  Its calls are entered and ended in the order of a stack
 * and go straight into the columns of the block under way (see pack.h), in
 * their final form.  Within a lane they are numbered from 0 by entry: the
 * sequence number, "seq".
 */
#ifndef ENGINE_LANE_BLOCK_H
#define ENGINE_LANE_BLOCK_H

#include "base/column.h"
#include "base/inline.h"

enum call_end {
	CALL_OPEN = 0,
	CALL_RETURN = 1,
	CALL_UNWOUND = 2,
	/* It has returned, at some time before the one that is recorded: this
	 * end of the function could not be patched. */
	CALL_ESTIMATED = 3,
};

/* Returns the end, but CALL_RETURN for one whose time is estimated. */
static inline uint8_t call_end_sort(uint8_t end)
{
	return end == CALL_ESTIMATED ? CALL_RETURN : end;
}

enum { CALLS_PER_BLOCK = 32768 };

/* The seq of a call that was not kept. */
#define NO_SEQ UINT64_MAX

/* The end of a call that was entered in an earlier block, which is already in
 * the file. */
struct late_end {
	uint64_t seq;
	uint64_t end_ticks;
	uint8_t end;
	uint32_t thrown; /* what unwound it: a function's number + 1, or 0 */
	/* Its result, or NULL: where that was read; in a lane, where it is in
	 * late_bytes. */
	const uint8_t *result;
	uint32_t result_at, n_result;
};

/* The columns of docs/trace-format.md. */
enum lane_column {
	LANE_SITES,
	LANE_POPS,
	LANE_STARTS,
	LANE_ENDS,
	LANE_NUMBERS, /* only with PACK_NUMBERS */
	LANE_THREADS, /* only with PACK_THREADS */
	LANE_COLUMNS,
};

/* A lane whose block is being filled. */
struct lane {
	uint64_t first; /* seq of the block's first call */
	uint64_t tick;	/* of its last event */
	/* The number of call i is this + i; else a value that cannot be. */
	uint64_t number_base;
	uint32_t thread; /* the thread of all its calls; UINT32_MAX: several */
	uint32_t n, cap;
	uint32_t n_ends;      /* calls of the block that ended in it */
	uint32_t ends_before; /* n_ends less the pops since the last entry */
	struct column columns[LANE_COLUMNS];

	/* What follows is for lane_block.c, writer.c and pack.c. */
	uint8_t *marks;	  /* PACK_UNWOUND and so on of each call */
	uint32_t *thrown; /* of each call, as in late_end; NULL: no call has one
			   */
	uint8_t *memory;  /* of the columns and marks */
	uint64_t first_tick; /* start of the first call */
	uint64_t parent;     /* seq of its caller + 1, or 0 */
	uint64_t first_number;
	uint64_t last_number;
	uint32_t first_thread;
	uint32_t flags;		/* PACK_NUMBERS, PACK_THREADS */
	uint32_t n_open_before; /* open calls of earlier blocks */
	uint32_t depth;		/* of the first call */
	uint32_t has_marks;
	uint32_t tail;	   /* pops before the first late one ... */
	uint64_t tail_seq; /* ... behind the call before this seq */
	struct late_end *late;
	uint32_t n_late, cap_late;
	/* How many bytes of value_bytes each entry has, and of result_bytes
	 * each end, in the order of ends; without memory there are none. */
	struct column sizes, result_sizes;
	uint8_t *size_memory;
	uint32_t n_values; /* entries with values, and ends with results */
	struct bytes value_bytes, result_bytes, late_bytes;
	uint32_t n_notes; /* entries of the block that are no calls */
	uint32_t index;	  /* in the file */
	struct writer *writer;
};

/* What describes a call beside its site; start is in ticks, without stops. */
struct lane_entry {
	uint64_t start;
	uint64_t number; /* N of its ID, on its thread from 1; seeds too */
	uint64_t above;	 /* seq of the open call around it, or NO_SEQ */
	uint32_t thread; /* index as given to writer_thread() */
	uint8_t is_seed;
};

/* Returns whether the call is on the fast path: it follows those before it in
 * the block with the next number, on the same thread. */
static inline int lane_is_plain(const struct lane *l, uint64_t number,
				uint32_t thread)
{
	return l->n < l->cap && number - l->number_base == l->n &&
	       thread == l->thread;
}

/* Enters a call at tick `start` for which lane_is_plain() is true or
 * lane_prepare() has made ready.  Returns its seq. */
INLINE uint64_t lane_enter(struct lane *l, uint64_t start, uint32_t site)
{
	uint32_t i = l->n;
	uint32_t pops = l->n_ends - l->ends_before;
	uint64_t step = start - l->tick;

	l->tick = start;
	l->ends_before = l->n_ends;
	l->n = i + 1;
	column_add(&l->columns[LANE_SITES], i, site);
	column_add(&l->columns[LANE_POPS], i, pops);
	column_add(&l->columns[LANE_STARTS], i, step);
	return l->first + i;
}

/* Marks how the call, which was ended last, ended: the rare half of
 * lane_exit(). */
void lane_mark_end(struct lane *l, uint64_t seq, enum call_end end);

/* Sets what unwound the call that was ended last: the number of the function
 * that stands for the exception. */
void lane_mark_thrown(struct lane *l, uint64_t seq, uint32_t function);

/* Adds n bytes of values to the call, which was entered last; or as its
 * result, if it was ended last.  Does nothing for
 * NO_SEQ; when out of memory they are missing. */
void lane_add_values(struct lane *l, uint64_t seq, const void *data, uint32_t n,
		     int is_result);
/* Does the same with those bytes at the end of lane_bytes(), from `at` on, that
 * the caller has put there. */
void lane_note_values(struct lane *l, uint64_t seq, size_t at, int is_result);
static inline struct bytes *lane_bytes(struct lane *l, int is_result)
{
	return is_result ? &l->result_bytes : &l->value_bytes;
}

/* Does that for a call of the block, which has none so far.  Returns 0, and
 * does nothing, for the block's first ones. */
INLINE int lane_note_at_once(struct lane *l, uint32_t n, int is_result)
{
	if (unlikely(!l->size_memory))
		return 0;
	if (is_result)
		column_add(&l->result_sizes, l->n_ends - 1, n);
	else
		column_add(&l->sizes, l->n - 1, n);
	l->n_values++;
	return 1;
}

/* Returns the values, *n bytes, that call seq was entered with, as long as its
 * block is not full; else NULL. */
const void *lane_values_of(const struct lane *l, uint64_t seq, uint32_t *n);

/* ---- for the writer ------------------------------------------------------ */

/* Makes room for cap calls.  Returns 0, or CST_MEMORY; then nothing has
 * changed. */
int lane_resize(struct lane *l, uint32_t cap);
/* Keeps what is special about the next call, for which there is room. */
void lane_note(struct lane *l, const struct lane_entry *e);
/* Adds the end of a call of an earlier block.  When out of memory the call
 * stays open in the file. */
void lane_add_late(struct lane *l, const struct late_end *late);
/* Returns how many calls of the block ended after its last entry. */
uint32_t lane_tail(const struct lane *l);
/* Empties the block, which was written, and begins the next. */
void lane_begin_block(struct lane *l);
/* Frees the memory of an empty block; the lane stays. */
void lane_shrink(struct lane *l);
/* Frees the memory of the lane, but not l itself. */
void lane_release(struct lane *l);

#endif
