/* SPDX-License-Identifier: MIT
 *
 * Tail calls: a function whose code was patched ends by a jump to another one,
 * which then has its frame and its return address.  No record says where to it
 * jumped; its code does, or the call that both have returned to.
 */
#ifndef ENGINE_TAIL_JUMPS_H
#define ENGINE_TAIL_JUMPS_H

#include "base/hashmap.h"

#include <stdint.h>

struct sites;

/* What is known of an end by a jump and an entry that comes next. */
struct tail_pair {
	uint32_t call_site; /* in names, or UINT32_MAX: it was not wanted */
	uint8_t is_certain; /* the function's code has a jump to that entry */
	/* Where the code goes on behind the only jump that it can be; 0: there
	 * are several, or none was found. */
	uint64_t from;
};

struct tail_jumps {
	/* private: by both sites, the pair's index; by an entry, whether its
	 * caller can call nothing else there */
	struct hashmap pairs, direct;
	struct tail_pair *all;
	uint32_t n, cap;
};

void tail_jumps_release(struct tail_jumps *t);

/* Returns whether the function that ended at site `end` jumped to the one that
 * was entered next at site `entry`, in the same frame and with the same return
 * address; `first` is the entry of the one that was called with it, or 0 if
 * there is none. */
int tail_jumps_lead(struct sites *s, uint32_t end, uint32_t entry,
		    uint32_t first);

/* Returns the call site, in names, of that entry, or UINT32_MAX when out of
 * memory. */
uint32_t tail_jumps_call_site(struct sites *s, uint32_t end, uint32_t entry);

#endif
