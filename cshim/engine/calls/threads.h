/* SPDX-License-Identifier: MIT
 *
 * The threads of one trace, numbered in order of their first calls.
 */
#ifndef ENGINE_THREADS_H
#define ENGINE_THREADS_H

#include "calls/callstack.h"

struct threads {
	struct thread **all;
	uint32_t n, cap;
	uint32_t n_processes; /* that have a thread here */
	/* private */
	struct thread **by_area; /* by index in the area */
	uint32_t n_by_area;
	struct extent *alternates; /* reported before there was a thread */
	uint32_t n_alternates;
	uint32_t *n_of_process; /* threads so far */
	uint32_t cap_processes;
};

/* Frees all threads and zeroes c. */
void threads_release(struct threads *c);

/* Returns the thread with this index of the area, made if it is new; or NULL if
 * the index is wrong or memory ran out. */
struct thread *threads_of_area(struct threads *c, struct callstack *calls,
			       const struct area *a, uint32_t index);

/* Returns whether threads_of_area() was asked for this thread before. */
int threads_has_met(const struct threads *c, uint32_t index);

/* Returns whether the thread with this index of the area is known, if only by
 * its seeds or samples. */
int threads_knows(const struct threads *c, const struct area *a,
		  uint32_t index);

/* Keeps a mark of a thread that is not known yet. */
void threads_hear(struct threads *c, uint32_t index,
		  const struct cst_record *mark);

/* Returns the thread with this tid of the process with this index, made if it
 * is new; or NULL when out of memory. */
struct thread *threads_of_tid(struct threads *c, struct callstack *calls,
			      uint32_t process, uint32_t pid, uint32_t tid,
			      const char *name);

#endif
