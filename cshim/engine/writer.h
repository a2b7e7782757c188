/* SPDX-License-Identifier: MIT
 *
 * The trace file's writing side: takes the calls of each lane as they are
 * entered and left, packs them into blocks.  A lane is one stack: a thread's
 * own, or a coroutine's or signal handler's.  Within a lane calls are
 * numbered from 0 by entry: the sequence number, "seq".
 */
#ifndef ENGINE_WRITER_H
#define ENGINE_WRITER_H

#include "error.h"
#include "names.h"

#include <stddef.h>

enum call_end { CALL_OPEN = 0, CALL_RETURN = 1, CALL_UNWOUND = 2 };

enum { CALLS_PER_BLOCK = 8192 };

/* One call of the block under way. */
struct lane_call {
	uint64_t start;	   /* ticks, stops left out; seeds: 0 */
	uint64_t duration; /* ticks; valid unless open */
	uint64_t number;   /* N of its ID; on its thread from 1; seeds too */
	uint32_t site;
	uint32_t depth;	 /* on its lane */
	uint32_t thread; /* index as given to writer_thread() */
	uint8_t end;	 /* enum call_end */
	uint8_t is_seed;
};

/* Late: entered in an earlier block, which is already in the file. */
struct late_end {
	uint64_t seq;
	uint64_t end_ticks;
	uint8_t end;
};

struct lane {
	uint64_t first; /* seq of calls[0] */
	uint32_t n, cap;
	struct lane_call *calls;
	struct late_end *late;
	uint32_t n_late, cap_late;
	uint32_t index; /* in the file */
	struct writer *writer;
	/* private to the writer: seq of the last call at each depth, as far
	 * as written */
	uint64_t *open_at;
	uint32_t n_open_at, cap_open_at;
	uint32_t slot; /* in the writer's list of lanes */
};

struct writer;

struct writer_options {
	const char *path; /* NULL: an unlinked file in dir */
	const char *dir;
	uint64_t limit_bytes; /* 0: none */
	const char *command;
	const char *module;
	/* Ticks to time: ns = ticks * ns_mult >> ns_shift, and the wall clock
	 * (ns since the epoch) at tick start_ticks, the trace's time 0. */
	uint64_t start_ticks;
	uint64_t start_wall_ns;
	uint32_t ns_mult, ns_shift;
};

/* names is borrowed for the writer's life; all in it is taken as dirty. The
 * writer is the caller's. */
int writer_open(const struct writer_options *options, struct names *names,
		struct writer **out, struct cst_error *err);

/* A thread of the trace; its ordinal (T of an ID) counts from 1 within its
 * process, process ordinals (P) count from 1. Returns its index, from 0 up
 * in order of these calls, or negative. A later call to writer_thread_name
 * renames it. */
int writer_thread(struct writer *w, uint32_t process, uint32_t pid,
		  uint32_t ordinal, uint32_t tid, const char *name);
void writer_thread_name(struct writer *w, uint32_t thread, const char *name);

/* A new lane of a process; ordinal 0 for each thread's own stack, else the
 * number of another stack.  Valid until writer_lane_end() (which flushes it
 * when its thread is gone, and frees it) or the writer's end. */
struct lane *writer_lane(struct writer *w, uint32_t process, uint32_t thread,
			 uint32_t ordinal);
void writer_lane_end(struct writer *w, struct lane *l);

/* The cold halves of the two below. */
int lane_room(struct lane *l); /* negative: no memory; the call is dropped */
void lane_end_late(struct lane *l, uint64_t seq, uint64_t end_ticks,
		   enum call_end end);

/* The place of the next call on the lane, to be filled at once, and its seq; or
 * NULL when it cannot be kept.  Filled in place: a copy of what was just
 * written in pieces makes the processor wait. */
static inline struct lane_call *lane_enter(struct lane *l, uint64_t *seq)
{
	if (__builtin_expect(l->n == l->cap, 0) && lane_room(l) < 0)
		return NULL;
	*seq = l->first + l->n;
	return &l->calls[l->n++];
}

static inline void lane_exit(struct lane *l, uint64_t seq, uint64_t end_ticks,
			     enum call_end end)
{
	/* Also false for the UINT64_MAX of a call that was not kept. */
	if (__builtin_expect(seq - l->first < l->n, 1)) {
		struct lane_call *c = &l->calls[seq - l->first];

		c->duration = end_ticks - c->start;
		c->end = end;
	} else {
		lane_end_late(l, seq, end_ticks, end);
	}
}

/* Pauses that were left out of the ticks, so that wall times can be told:
 * at tick `at` (as written, stops left out) the program stood for `ticks`. */
void writer_pause(struct writer *w, uint64_t at, uint64_t ticks);

/* Write all blocks under way (also short ones), names, threads: what is in
 * the file then is the whole trace so far.  A write that fails is told by
 * writer_is_full(); here only when nothing at all could be written, for the
 * file stays good up to its last whole block. */
int writer_flush(struct writer *w, struct cst_error *err);

/* 1 once limit_bytes is reached or a write failed (err tells which): what is
 * entered after that is not kept. */
int writer_is_full(const struct writer *w, struct cst_error *err);
uint64_t writer_bytes(const struct writer *w);
/* Calls not kept because the writer is full. */
uint64_t writer_dropped(const struct writer *w);

/* The file; borrowed. A reader may open what writer_flush() left. */
int writer_fd(const struct writer *w);

/* Set the end time of the trace (ticks), shown for open calls' age and in the
 * status; kept in the file by the next flush. */
void writer_set_end(struct writer *w, uint64_t end_ticks);

/* Flush, close; fails as writer_flush() does. The names are not freed. Where
 * fd_out is not NULL the open file is handed over there instead of being
 * closed. */
int writer_close(struct writer *w, int *fd_out, struct cst_error *err);

#endif
