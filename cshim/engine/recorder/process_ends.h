/* SPDX-License-Identifier: MIT
 *
 * When processes ended before the trace did: the calls that they had open
 * lasted until then, and no longer.
 */
#ifndef ENGINE_PROCESS_ENDS_H
#define ENGINE_PROCESS_ENDS_H

#include <stdint.h>

struct cst_recorder;

struct life {
	uint64_t seen;	   /* when it was last seen alive; 0: never */
	uint64_t last;	   /* record */
	uint64_t end;	   /* 0: not known to have ended */
	uint64_t reported; /* what was last reported of end */
	int has_open;	   /* calls */
};

/* The processes, by their index in the area. */
struct process_ends {
	struct life *all;
	uint32_t n, cap;
	int has_news; /* some end is not reported yet */
};

/* Frees the memory of l. */
void process_ends_release(struct process_ends *l);

/* Looks for processes that have ended, from time to time; is_last: for the last
 * time, because the trace ends with its first process. */
void process_ends_look(struct cst_recorder *r, int is_last);

/* Returns whether the process has not ended. */
int process_ends_goes_on(uint32_t pid);

/* Finds the ends of all processes of an area that nobody writes any more. */
void process_ends_look_back(struct cst_recorder *r);

/* Reports new ends to the writer. */
void process_ends_tell(struct cst_recorder *r);

#endif
