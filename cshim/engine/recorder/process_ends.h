/* SPDX-License-Identifier: MIT
 *
 * When processes ended that did not last as long as the trace: what they had
 * open was open until then, and no longer.
 */
#ifndef ENGINE_PROCESS_ENDS_H
#define ENGINE_PROCESS_ENDS_H

#include <stdint.h>

struct cst_recorder;

struct life {
	uint64_t seen; /* alive, when looked at last; 0: never */
	uint64_t last; /* record */
	uint64_t end;  /* 0: not known to have ended */
	uint64_t told; /* of that, the last time */
	int has_open;  /* calls */
};

/* By index in the area. */
struct process_ends {
	struct life *all;
	uint32_t n, cap;
	int has_news; /* not yet told */
};

void process_ends_release(struct process_ends *l);

/* Look who has ended, now and then; is_last: for the last time, as when the
 * trace ends with its first process. */
void process_ends_look(struct cst_recorder *r, int is_last);

/* Of an area that nobody writes any more. */
void process_ends_look_back(struct cst_recorder *r);

/* Tell the writer what is new. */
void process_ends_tell(struct cst_recorder *r);

#endif
