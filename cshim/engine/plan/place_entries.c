/* SPDX-License-Identifier: MIT
 *
 * An entry displaces what a near jump covers at the function's begin.  If that
 * is jumped into, a few instructions later will do; a short jump to padding
 * needs less.
 */
#include "plan/place_entries.h"
#include "plan/border.h"
#include "plan/landing.h"

#include <string.h>

enum {
	ENDBR_BYTES = 4,
	PROLOGUE_BYTES = 4,
	MOVE_BYTES = 3,
	LATER_MAX = 4,
	DEEP_MAX = 16
};

/* What an entry at some place would displace. */
struct attempt {
	uint64_t start, end;
	enum ending ending;
	int has_call; /* the last instruction is one */
	int is_immovable;
	uint8_t slot;
};

enum verdict { GO_ON, LAST, BLOCKED };

static enum verdict see_jump(const struct placements *p, uint32_t function,
			     struct attempt *t, const struct insn *i)
{
	int is_bare = placement_is_bare(p, &p->f->all[function], t->end);
	enum ending ending = border_ending(p, function, i, is_bare);

	if (i->kind == INSN_BRANCH)
		return ending == ENDING_NONE || ending == ENDING_HANDED ||
				       (ending == ENDING_TAIL && p->border)
			       ? GO_ON
			       : BLOCKED;
	t->ending = ending == ENDING_HANDED ? ENDING_NONE : ending;
	return ending == ENDING_LOST ? BLOCKED : LAST;
}

static enum verdict see(const struct placements *p, uint32_t function,
			struct attempt *t, const struct insn *i)
{
	switch (i->kind) {
	case INSN_PLAIN:
	case INSN_NOP:
		return GO_ON;
	case INSN_BRANCH:
	case INSN_JUMP:
	case INSN_JUMP_INDIRECT:
	case INSN_RETURN:
		return see_jump(p, function, t, i);
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		t->has_call = 1;
		t->is_immovable = i->kind != INSN_CALL && !i->is_relative;
		return t->is_immovable ? BLOCKED : LAST;
	case INSN_TRAP:
		return LAST;
	default:
		t->is_immovable = 1;
		return BLOCKED;
	}
}

/* Walks over the instructions that a patch of that many bytes displaces.
 * Returns whether they can be. */
static int walk(const struct placements *p, uint32_t function,
		struct attempt *t, uint64_t length)
{
	const struct plan_function *now = &p->f->all[function];
	uint64_t need = t->start + length;
	enum verdict verdict = GO_ON;
	struct insn i;

	for (t->end = t->start; t->end < need && verdict == GO_ON;
	     t->end += i.length) {
		if (t->end >= now->end || !placement_insn(p, t->end, &i))
			return 0;
		verdict = see(p, function, t, &i);
		if (verdict == BLOCKED)
			return 0;
	}
	if (t->end < need &&
	    placement_padding(p, t->end, need - t->end) < need - t->end)
		return 0;
	return placement_is_clear(p, t->start, t->end > need ? t->end : need);
}

static int add(struct placements *p, uint32_t function, const struct attempt *t,
	       uint8_t length)
{
	struct plan_function *now = &p->f->all[function];
	struct placement new = {
		.addr = t->start,
		.end = t->end,
		.function = function,
		.kind = CST_PATCH_ENTRY,
		.ending = (uint8_t)t->ending,
		.length = length,
		.slot = t->slot,
	};

	if (length < NEAR_JUMP ? !landing_add(p, &new)
			       : !placement_add(p, &new))
		return 0;
	now->entry = t->start;
	now->entry_end = t->end;
	now->placement = p->n - 1;
	now->ends_in_entry = t->ending != ENDING_NONE;
	return 1;
}

/* The first address that an entry may be at: behind an endbr64. */
static uint64_t first_place(const struct placements *p,
			    const struct plan_function *now)
{
	uint64_t n = 0;
	const uint8_t *bytes = image_bytes(p->im, now->start, &n);

	return n >= ENDBR_BYTES && !memcmp(bytes, "\xf3\x0f\x1e\xfa", 4)
		       ? now->start + ENDBR_BYTES
		       : now->start;
}

/* Tries a patch of that length at the begin and then at later places, to which
 * only what sets a register leads. */
static int try_places(struct placements *p, uint32_t function, uint8_t length,
		      int may_call, int *is_immovable)
{
	const struct plan_function *now = &p->f->all[function];
	uint64_t at = first_place(p, now);
	struct insn i;

	for (int n = 0; n < LATER_MAX && at < now->end; n++) {
		struct attempt t = {.start = at};
		uint8_t marks = image_marks(p->im, at);

		if (marks & MARK_LOOP ||
		    (n && marks & (MARK_LEADER | MARK_RETURN)) ||
		    !placement_is_bare(p, now, at))
			return 0;
		if (walk(p, function, &t, length) &&
		    (may_call || !t.has_call) && add(p, function, &t, length))
			return 1;
		*is_immovable |= t.is_immovable;
		if (!placement_insn(p, at, &i) || !i.only_loads)
			return 0;
		at += i.length;
	}
	return 0;
}

/* Does gdb find where a breakpoint on the function goes by its first
 * instructions? */
static int is_read_by_gdb(const struct placements *p,
			  const struct plan_function *now)
{
	uint64_t n = 0;
	const uint8_t *bytes = image_bytes(p->im, first_place(p, now), &n);

	return now->has_line && n >= PROLOGUE_BYTES &&
	       !memcmp(bytes, "\x55\x48\x89\xe5", PROLOGUE_BYTES);
}

/* What has one of these may run more than once in a call. */
enum { MARK_AGAIN = MARK_LEADER | MARK_RETURN | MARK_LOOP };

/* Where the first line behind the prologue begins, where gdb stops for a
 * breakpoint on the function; or 0.  Stores whether there is a call before it:
 * that of mcount(). */
static uint64_t first_line(const struct placements *p,
			   const struct plan_function *now, uint64_t at,
			   int *has_call)
{
	uint8_t again = MARK_AGAIN;
	struct insn i;

	*has_call = 0;
	for (; !(image_marks(p->im, at) & MARK_ROW); at += i.length) {
		if (at >= now->end || image_marks(p->im, at) & again ||
		    !placement_insn(p, at, &i))
			return 0;
		again = MARK_AGAIN;
		if (i.kind == INSN_CALL || i.kind == INSN_CALL_INDIRECT) {
			*has_call = 1;
			again &= (uint8_t)~MARK_RETURN;
		} else if (i.kind != INSN_PLAIN) {
			return 0;
		}
	}
	return at;
}

/* Are the registers of arguments the same at `to` as at `from`? */
static int are_arguments_kept(const struct placements *p, uint64_t from,
			      uint64_t to)
{
	struct insn i;

	for (; from < to; from += i.length)
		if (!placement_insn(p, from, &i) || !i.keeps_arguments)
			return 0;
	return 1;
}

/* Tries an entry where rbp is set. */
static int try_framed(struct placements *p, uint32_t function, uint64_t at,
		      uint8_t length, int may_call)
{
	const struct plan_function *now = &p->f->all[function];
	uint64_t begun = first_place(p, now) + PROLOGUE_BYTES;
	struct attempt t = {.start = at,
			    .slot = at == begun ? CST_SLOT_BEGUN
				    : are_arguments_kept(p, begun, at)
					    ? CST_SLOT_DEEP
					    : CST_SLOT_FRAMED};
	const struct frame_rules *rules;
	struct frame_cursor c;

	if (at >= now->end || image_marks(p->im, at) & MARK_AGAIN)
		return 0;
	frame_cursor_init(&c, p->frames, now->frame);
	rules = frame_cursor_to(&c, at);
	return rules && frame_is_framed(rules) &&
	       walk(p, function, &t, length) && (may_call || !t.has_call) &&
	       add(p, function, &t, length);
}

/* Are the function's arguments where they were?  What its parameters are is
 * read for gdb only. */
static int keeps_arguments(const struct placements *p,
			   const struct plan_function *now,
			   const struct insn *i)
{
	return i->keeps_arguments ||
	       (i->clears_vector && p->is_for_gdb && !now->takes_vectors);
}

/* Tries an entry behind the function's first instructions, where the stack
 * pointer has moved. */
static int try_deep(struct placements *p, uint32_t function, int may_call)
{
	const struct plan_function *now = &p->f->all[function];
	uint64_t at = first_place(p, now);
	struct frame_cursor c;
	struct insn i;

	if (!now->frame || image_marks(p->im, at) & MARK_LOOP)
		return 0;
	frame_cursor_init(&c, p->frames, now->frame);
	for (int n = 0; n < DEEP_MAX && placement_insn(p, at, &i); n++) {
		struct attempt t = {.start = at + i.length,
				    .slot = CST_SLOT_DEEP};
		const struct frame_rules *rules;

		if ((i.kind != INSN_PLAIN && i.kind != INSN_NOP) ||
		    !keeps_arguments(p, now, &i) || t.start >= now->end ||
		    image_marks(p->im, t.start) & MARK_AGAIN)
			return 0;
		at = t.start;
		rules = frame_cursor_to(&c, at);
		if (rules && frame_depth(rules) &&
		    walk(p, function, &t, NEAR_JUMP) &&
		    (may_call || !t.has_call) &&
		    add(p, function, &t, NEAR_JUMP))
			return 1;
	}
	return 0;
}

static void place_deep(struct placements *p, int may_call)
{
	for (uint32_t i = 0; i < p->f->n; i++) {
		struct plan_function *now = &p->f->all[i];

		if (now->is_chosen && !now->entry_end &&
		    (now->reason == CST_PLAN_NO_ROOM ||
		     now->reason == CST_PLAN_IMMOVABLE) &&
		    try_deep(p, i, may_call))
			now->reason = CST_PLAN_TRACED;
	}
}

/* Callers of a border's functions are known before their prologues only. */
static void leave_framed(struct placements *p)
{
	for (uint32_t i = 0; i < p->f->n; i++) {
		struct plan_function *now = &p->f->all[i];

		if (now->is_chosen && now->reason == CST_PLAN_TRACED &&
		    is_read_by_gdb(p, now))
			now->reason = CST_PLAN_READ_BY_GDB;
	}
}

/* May something jump between the prologue's two instructions? */
static int is_entered_late(const struct placements *p, uint64_t behind)
{
	return (image_marks(p->im, behind - MOVE_BYTES) & MARK_AGAIN) != 0;
}

/* Returns the next row behind the one at `at`, if what is between sets
 * registers only, so that the arguments in memory are what they were; or 0. */
static uint64_t next_line(const struct placements *p,
			  const struct plan_function *now, uint64_t at)
{
	struct insn i;

	do {
		if (!placement_insn(p, at, &i) || !i.only_loads)
			return 0;
		at += i.length;
		if (at >= now->end || image_marks(p->im, at) & MARK_AGAIN)
			return 0;
	} while (!(image_marks(p->im, at) & MARK_ROW));
	return at;
}

/* Tries an entry behind what gdb reads, as long as that is the way to all that
 * follows; and before any call. */
static int try_behind_prologue(struct placements *p, uint32_t function)
{
	const struct plan_function *now = &p->f->all[function];
	uint64_t at = first_place(p, now) + PROLOGUE_BYTES, line;
	int has_call;

	if (is_entered_late(p, at))
		return 0;
	if (try_framed(p, function, at, NEAR_JUMP, 0))
		return 1;
	line = first_line(p, now, at, &has_call);
	if (!line)
		return 0;
	if (has_call)
		return try_framed(p, function, at, NEAR_JUMP, 1);
	for (uint64_t next = line; next; next = next_line(p, now, next))
		if (try_framed(p, function, next, NEAR_JUMP, 0))
			return 1;
	return try_framed(p, function, line, NEAR_JUMP, 1) ||
	       try_framed(p, function, at, SHORT_JUMP, 0);
}

static void place_framed(struct placements *p)
{
	for (uint32_t i = 0; i < p->f->n; i++) {
		struct plan_function *now = &p->f->all[i];

		if (now->is_chosen && now->reason == CST_PLAN_TRACED &&
		    is_read_by_gdb(p, now) && !try_behind_prologue(p, i))
			now->reason = CST_PLAN_READ_BY_GDB;
	}
}

static void place_all(struct placements *p, uint8_t length, int may_call)
{
	for (uint32_t i = 0; i < p->f->n; i++) {
		struct plan_function *now = &p->f->all[i];
		int is_immovable = 0;

		if (!now->is_chosen || now->entry_end ||
		    (now->reason != CST_PLAN_TRACED &&
		     now->reason != CST_PLAN_NO_ROOM &&
		     now->reason != CST_PLAN_IMMOVABLE))
			continue;
		if (try_places(p, i, length, may_call, &is_immovable))
			now->reason = CST_PLAN_TRACED;
		else
			now->reason = is_immovable ? CST_PLAN_IMMOVABLE
						   : CST_PLAN_NO_ROOM;
	}
}

void place_entries(struct placements *p)
{
	if (p->is_for_gdb && p->border)
		leave_framed(p);
	else if (p->is_for_gdb)
		place_framed(p);
	place_all(p, NEAR_JUMP, 0);
	place_all(p, SHORT_JUMP, 0);
	place_all(p, NEAR_JUMP, 1);
	if (!p->border) /* whose slots are for the begin alone */
		for (int may_call = 0; may_call < 2; may_call++)
			place_deep(p, may_call);
}
