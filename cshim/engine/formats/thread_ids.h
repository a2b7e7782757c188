/* SPDX-License-Identifier: MIT
 *
 * The names and numbers of a trace's lanes for tools that know processes and
 * threads only: another stack of a thread is a thread there.
 */
#ifndef ENGINE_THREAD_IDS_H
#define ENGINE_THREAD_IDS_H

#include "trace/loader.h"

struct track {
	uint32_t pid;
	uint32_t tid; /* the kernel's, or one that no thread can have */
};

/* Returns a track for each lane, no two of them equal, in an array that the
 * caller frees; NULL when out of memory. */
struct track *tracks_new(const struct cst_trace *t);
/* Returns what tracks_new() does, but with no two tids equal, not even in
 * different processes. */
struct track *tracks_new_flat(const struct cst_trace *t);

/* Returns one lane of each process that has calls, in the processes' order: *n
 * of them, in an array that the caller frees.  NULL: out of memory. */
uint32_t *tracks_processes(const struct cst_trace *t, uint32_t *n);

/* Appends the lane's name, "worker" or "worker, stack 2", as text in JSON;
 * "thread" stands for a thread without a name. */
void track_put_name(const struct cst_trace *t, uint32_t lane,
		    struct bytes *out);
/* Appends it with the thread's number: "worker 1234", "worker 1234, stack 2".
 */
void track_put_numbered(const struct cst_trace *t, uint32_t lane,
			struct bytes *out);

/* Returns the ordinal of the lane's process. */
static inline uint32_t track_process(const struct cst_trace *t, uint32_t lane)
{
	return t->threads[t->lanes[lane].thread].process;
}

/* Returns the traced program's file name, without folders; never "". */
const char *tracks_program(const struct cst_trace *t);
/* Return the names of the lane's process and of its thread; never "".  All
 * strings are borrowed from t. */
const char *track_process_name(const struct cst_trace *t, uint32_t lane);
const char *track_thread_name(const struct cst_trace *t, uint32_t lane);

#endif
