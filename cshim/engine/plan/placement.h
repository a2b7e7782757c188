/* SPDX-License-Identifier: MIT
 *
 * Where patches go: which bytes they write, and which instructions they
 * displace.
 */
#ifndef ENGINE_PLAN_PLACEMENT_H
#define ENGINE_PLAN_PLACEMENT_H

#include "plan/frame_cursor.h"
#include "plan/functions.h"
#include "plan/plan.h"

enum { NEAR_JUMP = 5, SHORT_JUMP = 2, NEAR_BRANCH = 6 }; /* bytes */

enum ending {
	ENDING_NONE = 0, /* the call goes on */
	ENDING_EXIT,
	ENDING_TAIL, /* it ends by a jump to another function */
	ENDING_LOST, /* it may end, but nobody can tell */
	/* In a border plan: another function that it jumps to ends the call,
	 * and has no row of its own. */
	ENDING_HANDED,
};

struct placement {
	uint64_t addr;	   /* of the patch */
	uint64_t end;	   /* of what it displaces; addr for a branch that is
			      only given another target */
	uint64_t landing;  /* where its short jump goes to, or 0 */
	uint32_t host;	   /* the function whose entry, or host, gave the
			      landing its bytes; FUNCTION_NONE: padding did */
	uint32_t function; /* index */
	uint8_t kind;	   /* enum cst_patch_kind */
	uint8_t ending;	   /* of an entry: how its trampoline ends, or 0 */
	uint8_t length;	   /* of the patch */
	uint8_t slot;	   /* of an entry: enum cst_plan_slot */
};

struct border;

struct placements {
	struct image *im;
	struct functions *f;
	const struct frames *frames;
	struct placement *all;
	uint32_t n, cap;
	struct border *border; /* NULL: it is no border plan */
	int is_for_gdb;
	int failed; /* out of memory */
};

void placements_release(struct placements *p);

/* Forgets all of them, and what they say of functions. */
void placements_clear(struct placements *p);

/* Sorts all by address: what runs together lies together in memory.  The
 * numbers that functions have of their entries' are those of before. */
void placements_sort(struct placements *p);

/* Returns the end of what the patch writes or displaces. */
uint64_t placement_end(const struct placement *one);

/* Adds one and claims its bytes, unless they are another patch's.  Returns 1,
 * or 0. */
int placement_add(struct placements *p, const struct placement *new);

/* Claims the bytes up to `end` for an entry, too.  Returns 1, or 0 if something
 * else needs them. */
int placement_extend(struct placements *p, struct placement *entry,
		     uint64_t end);

/* Lets the entry of the function that `end` is of displace all up to this end
 * as well.  Returns 1, or 0 if it cannot. */
int placement_absorb(struct placements *p, const struct placement *end);

/* Returns whether nothing but a straight line leads to the bytes in (start,
 * end), so that a patch at start may cover them: nothing jumps there, no line
 * of the source begins there, and no other patch needs them. */
int placement_is_clear(const struct placements *p, uint64_t start,
		       uint64_t end);

/* Returns how many bytes of padding, not more than n, lie at addr. */
uint64_t placement_padding(const struct placements *p, uint64_t addr,
			   uint64_t n);

/* Decodes the instruction at addr.  Returns 1, or 0. */
int placement_insn(const struct placements *p, uint64_t addr, struct insn *out);

/* Returns whether the return address is on top of the stack at addr, which is
 * in that function. */
int placement_is_bare(const struct placements *p,
		      const struct plan_function *now, uint64_t addr);

/* Returns what the instruction does to a call of the function with that index;
 * is_bare: the return address is on top of the stack there. */
enum ending placement_ending(const struct placements *p, uint32_t function,
			     const struct insn *i, int is_bare);

#endif
