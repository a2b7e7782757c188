/* SPDX-License-Identifier: MIT
 *
 * The rules by which a frame is unwound, at each address of a function.  libdw
 * answers for one address; a planner asks for all of them, in order, and writes
 * the rules down again for the code that it moves.
 */
#ifndef ENGINE_PLAN_FRAME_CURSOR_H
#define ENGINE_PLAN_FRAME_CURSOR_H

#include "plan/frames.h"

enum rule_kind {
	RULE_NONE = 0, /* as the CIE leaves it: the register is unchanged */
	RULE_OFFSET,   /* saved at the CFA + value */
	RULE_VALUE,    /* is the CFA + value */
	RULE_REGISTER, /* is in the register `value`; of the CFA: at it + add */
	RULE_AT,       /* saved at the address that the expression gives */
	RULE_IS,       /* is what the expression gives */
	RULE_UNDEFINED,
};

struct rule {
	int64_t value, add;
	const uint8_t *expression; /* with its length before it */
	uint32_t size;		   /* of both, in bytes */
	uint8_t kind;		   /* enum rule_kind */
};

enum {
	FRAME_FP = 6,
	FRAME_SP = 7,
	FRAME_REGISTERS = 17,
};

struct frame_rules {
	struct rule cfa;
	struct rule registers[FRAME_REGISTERS];
};

enum { FRAME_REMEMBERED = 8 };

/* Goes through the rules of a frame by rising addresses. */
struct frame_cursor {
	const struct frames *frames;
	const struct frame *frame;
	const uint8_t *at;
	uint64_t addr; /* where the rules begin to hold */
	struct frame_rules rules, first;
	struct frame_rules remembered[FRAME_REMEMBERED];
	uint32_t n_remembered;
	int failed; /* the rules are not known */
};

void frame_cursor_init(struct frame_cursor *c, const struct frames *f,
		       const struct frame *frame);
/* Returns the rules at addr, which is not below that of the last call; or NULL.
 * They are valid until the next call. */
const struct frame_rules *frame_cursor_to(struct frame_cursor *c,
					  uint64_t addr);

/* Returns whether both say the same of the CFA and of each register. */
int frame_rules_are_same(const struct frame_rules *a,
			 const struct frame_rules *b);

/* Returns whether the return address is right above the stack pointer. */
static inline int frame_is_bare(const struct frame_rules *r)
{
	return r->cfa.kind == RULE_REGISTER && r->cfa.value == FRAME_SP &&
	       r->cfa.add == 8;
}

/* Returns whether it is right above what the frame pointer points to. */
static inline int frame_is_framed(const struct frame_rules *r)
{
	return r->cfa.kind == RULE_REGISTER && r->cfa.value == FRAME_FP &&
	       r->cfa.add == 16;
}

/* Returns how far above the stack pointer the return address is; or 0, where it
 * is not known, or far. */
static inline uint32_t frame_depth(const struct frame_rules *r)
{
	enum { MOST = 1 << 16, WORD = 8 };

	return r->cfa.kind == RULE_REGISTER && r->cfa.value == FRAME_SP &&
			       r->cfa.add > WORD && r->cfa.add < MOST
		       ? (uint32_t)r->cfa.add - WORD
		       : 0;
}

#endif
