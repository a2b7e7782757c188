/* SPDX-License-Identifier: MIT
 *
 * The trace file's writing side: hands out the lanes that calls are entered
 * and left on (lane_block.h), and writes their blocks as they fill, with all
 * that these refer to.
 */
#ifndef ENGINE_WRITER_H
#define ENGINE_WRITER_H

#include "base/error.h"
#include "file/block.h"
#include "file/lane_block.h"
#include "file/pack.h"
#include "file/writer_lanes.h"
#include "names/names.h"

#include <stddef.h>

struct writer;

struct writer_options {
	const char *path; /* NULL: a file in dir, */
	const char *dir;
	const char *held;      /* of this name (cache_file.h), or NULL */
	uint64_t flight_bytes; /* not 0: keep so many of the newest in memory */
	uint64_t limit_bytes;  /* 0: none */
	const char *command;
	const char *module;
	const struct cst_choice *choice; /* or NULL */
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

/* An object file of the program; build_id in hexadecimal digits, or "". The
 * address space is counted from 1. */
struct writer_module {
	uint32_t space;
	const char *path, *build_id;
	uint64_t start, end, bias;
};

void writer_module(struct writer *w, const struct writer_module *m);

/* While the reader is behind the writer packs more loosely, up to half of the
 * limit.  To be told whenever that changes. */
void writer_hurry(struct writer *w, enum haste haste);

/* Pauses that were left out of the ticks, so that wall times can be told:
 * at tick `at` (as written, stops left out) the program stood for `ticks`. */
void writer_pause(struct writer *w, uint64_t at, uint64_t ticks);

/* A process (ordinal) ended at that tick; said again, the later holds. */
void writer_process_end(struct writer *w, uint32_t process, uint64_t at);

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

/* Give the flight its file: *fd, the caller's. */
int writer_save(struct writer *w, int *fd, struct cst_error *err);
int writer_is_flight(const struct writer *w);

/* The file; borrowed. A reader may open what writer_flush() left. */
int writer_fd(const struct writer *w);
/* What its file is held as is the caller's from now on, who takes the file
 * itself at the close; or NULL. */
char *writer_take_held(struct writer *w);
/* Does what is written stay, whatever becomes of us? */
int writer_outlives_us(const struct writer *w);
/* A flush for that end; past its limit the file is told its losses only. */
void writer_keep(struct writer *w);
/* Lanes with something that the next flush would write. */
uint32_t writer_n_waiting(const struct writer *w);

/* Set the end time of the trace (ticks), shown for open calls' age and in the
 * status; kept in the file by the next flush. */
void writer_set_end(struct writer *w, uint64_t end_ticks);

/* What did not come, writer_dropped() among it: the file tells it as well. */
void writer_set_missing(struct writer *w, const struct cst_status_report *s);

/* Flush, close; fails as writer_flush() does. The names are not freed. Where
 * fd_out is not NULL the open file is handed over there instead of being
 * closed. */
int writer_close(struct writer *w, int *fd_out, struct cst_error *err);

/* ---- for writer_lanes.c ---------------------------------------------------
 */

/* Put out `raw` as a block of its own and empty it, if there is enough. */
void writer_put_plain(struct writer *w, enum block_kind kind, struct bytes *raw,
		      uint64_t enough);

/* The lane's calls go to the file, or are counted as lost. */
void writer_put_calls(struct writer *w, struct lane *l);

#endif
