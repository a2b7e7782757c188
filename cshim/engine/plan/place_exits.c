/* SPDX-License-Identifier: MIT
 *
 * A patch for an end covers it and padding behind it, or instructions before
 * it.
 */
#include "plan/place_exits.h"
#include "base/array.h"
#include "cstrace/engine.h"
#include "plan/border.h"
#include "plan/landing.h"

#include <stdlib.h>

/* What a short jump displaces, and its end, in bytes. */
enum { SHORT_END_MAX = 32 };

/* An end whose turn comes when all near jumps are placed. */
struct late {
	struct placement placement;
	uint64_t next; /* behind the end */
};

struct exits {
	struct placements *p;
	struct late *late;
	uint32_t n_late, cap_late;
	struct frame_cursor cursor;
	uint32_t function; /* that the cursor is for */
};

/* The instruction before addr on the way to it, which may be displaced; or
 * 0. */
static uint64_t one_before(const struct placements *p, uint64_t addr)
{
	enum { STOPS = MARK_LEADER | MARK_RETURN | MARK_ROW | MARK_TAKEN };
	struct insn i;

	if (image_marks(p->im, addr) & STOPS)
		return 0;
	for (uint64_t n = 1; n <= CST_INSTRUCTION_MAX; n++) {
		uint64_t at = addr - n;

		if (!(image_marks(p->im, at) & MARK_CODE))
			continue;
		if (image_marks(p->im, at) & MARK_TAKEN ||
		    !placement_insn(p, at, &i) || i.length != n ||
		    (i.kind != INSN_PLAIN && i.kind != INSN_NOP &&
		     i.kind != INSN_BRANCH))
			return 0;
		return at;
	}
	return 0;
}

static int place_near(struct exits *x, struct placement *new, uint64_t next,
		      int is_alone)
{
	uint64_t room, padding = placement_padding(x->p, next, NEAR_JUMP);
	uint64_t at = new->addr;

	new->end = next;
	for (; at; at = one_before(x->p, at)) {
		room = next - at + padding;
		new->addr = at;
		new->length = NEAR_JUMP;
		if (room >= NEAR_JUMP)
			return placement_add(x->p, new);
		if (is_alone)
			return 0;
	}
	return 0;
}

/* Places a short jump, which needs two bytes, and its landing.  Where the frame
 * is given up there may be none that is unwound alike, but for some earlier
 * place. */
static int place_short(struct exits *x, const struct late *late)
{
	struct placement one = late->placement;
	uint64_t padding = placement_padding(x->p, late->next, SHORT_JUMP);

	one.end = late->next;
	one.length = SHORT_JUMP;
	for (; one.addr && late->next - one.addr <= SHORT_END_MAX;
	     one.addr = one_before(x->p, one.addr))
		if (late->next - one.addr + padding >= SHORT_JUMP &&
		    landing_add(x->p, &one))
			return 1;
	return 0;
}

static int is_bare_at(struct exits *x, const struct function_end *e)
{
	const struct plan_function *now = &x->p->f->all[e->function];
	const struct frame_rules *rules;

	if (!now->frame)
		return 0;
	if (x->function != e->function)
		frame_cursor_init(&x->cursor, x->p->frames, now->frame);
	x->function = e->function;
	rules = frame_cursor_to(&x->cursor, e->addr);
	return rules && frame_is_bare(rules);
}

/* Where the instructions begin that give the frame up before the return, if rbp
 * finds the return address there; or the return's own address. */
static uint64_t frame_end(const struct exits *x, const struct function_end *e)
{
	const struct plan_function *now = &x->p->f->all[e->function];
	uint64_t begin = e->addr, before = one_before(x->p, begin);
	const struct frame_rules *rules;
	struct frame_cursor c;
	struct insn i;

	while (before && placement_insn(x->p, before, &i) && i.gives_up) {
		begin = before;
		before = one_before(x->p, begin);
	}
	if (begin == e->addr || !now->frame)
		return e->addr;
	frame_cursor_init(&c, x->p->frames, now->frame);
	rules = frame_cursor_to(&c, begin);
	return rules && frame_is_framed(rules) ? begin : e->addr;
}

/* Places it so that it has all that gives up the frame, for gdb's user to stop
 * before that. */
static int place_framed(struct exits *x, const struct function_end *e,
			struct placement *new)
{
	struct placement one = *new;

	one.addr = frame_end(x, e);
	if (one.addr == e->addr)
		return 0;
	new->addr = one.addr; /* for a short jump, if it has to be one */
	return place_near(x, &one, e->addr + e->insn.length, 0);
}

static void place_later(struct exits *x, const struct placement *new,
			uint64_t next)
{
	if (array_room(&x->late, &x->cap_late, x->n_late + 1ull))
		x->p->failed = 1;
	else
		x->late[x->n_late++] = (struct late){*new, next};
}

static void place_end(struct exits *x, const struct function_end *e)
{
	struct plan_function *now = &x->p->f->all[e->function];
	struct plan_function *whole = &x->p->f->all[now->whole];
	int is_bare = is_bare_at(x, e);
	enum ending ending =
		border_ending(x->p, e->function, &e->insn, is_bare);
	int is_alone = now->has_label || now->has_lost_jump;
	struct placement new = {
		.addr = e->addr,
		.end = e->addr,
		.function = now->whole,
		.kind = ending == ENDING_TAIL ? CST_PATCH_TAIL : CST_PATCH_EXIT,
		.length = NEAR_BRANCH,
	};
	int is_placed;

	if (ending == ENDING_NONE ||
	    (ending == ENDING_HANDED && border_is_ended(x->p, &e->insn)))
		return;
	if (ending == ENDING_LOST || ending == ENDING_HANDED) {
		whole->n_missed++;
		return;
	}
	if (e->insn.kind == INSN_BRANCH) {
		is_placed = e->insn.length == NEAR_BRANCH &&
			    placement_add(x->p, &new);
	} else if (x->p->is_for_gdb && ending == ENDING_EXIT && !is_alone &&
		   place_framed(x, e, &new)) {
		is_placed = 1;
	} else {
		uint64_t begin = new.addr;

		new.addr = e->addr;
		is_placed =
			place_near(x, &new, e->addr + e->insn.length, is_alone);
		new.addr = begin;
		if (!is_placed && !is_alone) {
			place_later(x, &new, e->addr + e->insn.length);
			return;
		}
	}
	if (is_placed)
		whole->n_exits++;
	else
		whole->n_missed++;
}

/* Is it an end of a function that is traced, and not in its entry? */
static int is_wanted(const struct functions *f, const struct function_end *e)
{
	uint32_t whole = f->all[e->function].whole;
	const struct plan_function *now;

	if (whole == FUNCTION_NONE || f->all[e->function].is_unreadable)
		return 0;
	now = &f->all[whole];
	if (now->reason == CST_PLAN_ENDS_OTHERS || now->ends_only)
		return 1;
	return now->entry_end &&
	       (e->addr < now->entry || e->addr >= now->entry_end);
}

/* A jump through a register in the middle of a function that has no table. */
static void find_lost_jumps(struct exits *x)
{
	for (uint32_t i = 0; i < x->p->f->n_ends; i++) {
		const struct function_end *e = &x->p->f->ends[i];
		struct plan_function *now = &x->p->f->all[e->function];

		if (e->insn.kind == INSN_JUMP_INDIRECT && !now->has_table &&
		    !e->insn.is_slot && !is_bare_at(x, e))
			now->has_lost_jump = 1;
	}
	x->function = FUNCTION_NONE;
}

void place_exits(struct placements *p)
{
	struct exits x = {.p = p, .function = FUNCTION_NONE};
	const struct functions *f = p->f;

	find_lost_jumps(&x);
	for (uint32_t i = 0; i < f->n_ends; i++)
		if (is_wanted(f, &f->ends[i]))
			place_end(&x, &f->ends[i]);
	for (uint32_t i = 0; i < x.n_late; i++) {
		struct plan_function *now =
			&f->all[x.late[i].placement.function];

		if (place_short(&x, &x.late[i]))
			now->n_exits++;
		else if (!now->entry_end ||
			 !placement_absorb(p, &x.late[i].placement))
			now->n_missed++;
	}
	free(x.late);
}
