/* SPDX-License-Identifier: MIT
 *
 * The trace file's writing side: makes the lanes on which calls are entered and
 * ended (lane_block.h), and writes their blocks as they fill, with everything
 * that these refer to.  Times are ticks without stops.
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
	const char *path; /* NULL: a file in dir */
	const char *dir;
	const char *
		cache_name; /* the file's name in dir (cache_file.h), or NULL */
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

/* Begins a trace file.  names is borrowed for the writer's life, and all in it
 * is marked dirty.  The caller ends *out with writer_close(). Returns 0 or a
 * negative status. */
int writer_open(const struct writer_options *options, struct names *names,
		struct writer **out, struct cst_error *err);

/* Adds a thread of the trace.  Its ordinal (T of an ID) counts from 1 within
 * its process; process ordinals (P) count from 1; name may be NULL. Returns its
 * index, counted from 0 in the order of these calls, or CST_MEMORY.
 * writer_thread_name() renames it later. */
int writer_thread(struct writer *w, uint32_t process, uint32_t pid,
		  uint32_t ordinal, uint32_t tid, const char *name);
void writer_thread_name(struct writer *w, uint32_t thread, const char *name);

/* An object file of the program; build_id is in hexadecimal digits, or "".
 * Address spaces are counted from 1. */
struct writer_module {
	uint32_t space;
	const char *path, *build_id;
	uint64_t start, end, bias;
};

/* Adds an object file. */
void writer_module(struct writer *w, const struct writer_module *m);

/* Sets the haste of the blocks that follow.  While the reader is behind, the
 * writer packs more loosely, up to half of its limit; the caller sets it
 * whenever that changes. */
void writer_hurry(struct writer *w, enum haste haste);

/* Adds a pause that the ticks leave out, so that wall times can be computed: at
 * tick `at` the program was stopped for so many ticks. */
void writer_pause(struct writer *w, uint64_t at, uint64_t ticks);

/* Sets the tick at which the process with this ordinal ended; of several, the
 * last one counts. */
void writer_process_end(struct writer *w, uint32_t process, uint64_t at);

/* Writes all blocks under way (also short ones), names and threads: the file is
 * then the complete trace so far.  Returns 0, or a negative status if nothing
 * at all could be written.  Any other write that fails shows in
 * writer_is_full(): the file stays readable up to its last complete block. */
int writer_flush(struct writer *w, struct cst_error *err);

/* Returns 1 once limit_bytes is reached or a write failed (err says which):
 * calls entered after that are not kept.  Else 0. */
int writer_is_full(const struct writer *w, struct cst_error *err);

/* Returns the size of the file so far, in bytes. */
uint64_t writer_bytes(const struct writer *w);
/* Returns how many calls were not kept because the writer is full. */
uint64_t writer_dropped(const struct writer *w);

/* Saves the flight recorder to its file.  Returns 0, and in *fd the open file,
 * which the caller closes; or a negative status. */
int writer_save(struct writer *w, int *fd, struct cst_error *err);

/* Returns whether this is a flight recorder. */
int writer_is_flight(const struct writer *w);

/* Returns the file's descriptor, which stays the writer's; after writer_flush()
 * a reader may read it.  It is -1 for a flight recorder. */
int writer_fd(const struct writer *w);
/* Hands over the path of the file in the cache folder, or NULL: the caller
 * passes it to cache_file_remove(), and gets the file itself from
 * writer_close(). */
char *writer_take_cache_path(struct writer *w);
/* Returns whether what is written remains if this process dies: the file has a
 * name. */
int writer_outlives_us(const struct writer *w);
/* Writes what waits so that it remains if this process dies.  Past its limit
 * the file gets only the count of losses. */
void writer_keep(struct writer *w);
/* Returns how many lanes have something that the next flush would write. */
uint32_t writer_n_waiting(const struct writer *w);

/* Sets the tick at which the trace ends, which gives open calls their age; the
 * next flush writes it. */
void writer_set_end(struct writer *w, uint64_t end_ticks);

/* Sets what the trace lacks, with writer_dropped() in n_limit; the next flush
 * writes it. */
void writer_set_losses(struct writer *w, const struct cst_losses *l);

/* Flushes, seals and closes the file and frees w; names stays the caller's.
 * With fd_out not NULL the open file is handed over in *fd_out instead of being
 * closed.  Returns what writer_flush() does. */
int writer_close(struct writer *w, int *fd_out, struct cst_error *err);

/* ---- for writer_lanes.c and writer_samples.c ------------------------------
 */

/* Writes what blocks refer to: threads, modules and names. */
void writer_put_people(struct writer *w);

/* Writes `raw` as a block of that kind and empties it, if it has `enough` bytes
 * or more. */
void writer_put_plain(struct writer *w, enum block_kind kind, struct bytes *raw,
		      uint64_t enough);

/* Writes the lane's calls and late ends as a block, or counts them as lost, and
 * begins the lane's next block. */
void writer_put_calls(struct writer *w, struct lane *l);

#endif
