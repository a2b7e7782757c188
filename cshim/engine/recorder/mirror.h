/* SPDX-License-Identifier: MIT
 *
 * The area of a process that only a debugger reaches: its parts are read
 * through the debugger while the process stands still, and put into the
 * recorder's own area as if a shim had written them there.  The process's one
 * is a flight (layout.h): it needs no answer but which chunks were read.
 */
#ifndef ENGINE_MIRROR_H
#define ENGINE_MIRROR_H

#include "area/area.h"
#include "cstrace/engine.h"

/* The process's ticks as ours: those from `from` on are at `to` and later. */
struct mirror_clock {
	uint64_t from, to;
	uint64_t rate; /* our ticks for one of it, << 32; 0: not begun */
	int is_measured;
};

struct mirror {
	const struct cst_memory *memory; /* during a fetch */
	uint64_t at; /* where the process has its area; 0: none yet */
	/* private */
	struct mirror_clock clock;
	struct mirrored *chunks; /* what we have of each of its chunks */
	struct lane_seqs *seqs;	 /* by thread */
	uint32_t n_seqs, cap_seqs;
	uint8_t *told; /* by site: the verdict that the process has */
	uint32_t cap_told;
	uint32_t n_steps;	/* of copy programs: those that it has */
	struct cst_hook *hooks; /* the table that it has */
	uint32_t n_sites;	/* those below are copied */
	uint32_t n_mappings;	/* likewise */
	uint32_t text_again;	/* text from here on was new the last time */
	uint64_t n_missed;	/* records that were overwritten unread */
};

/* Reads what is new in the area at that address, another than before after an
 * exec, into a.  Returns 0, CST_MEMORY, or CST_FAILED: the process cannot be
 * reached, or there is no area. */
int mirror_fetch(struct mirror *m, struct area *a, uint64_t at,
		 struct cst_error *err);

/* Writes into the process's area what the recorder has found out of its sites
 * since: which are muted, and how the values of calls are copied.  Returns as
 * mirror_fetch() does. */
int mirror_tell(struct mirror *m, const struct area *a, struct cst_error *err);

/* Frees the memory of m and zeroes it. */
void mirror_release(struct mirror *m);

#endif
