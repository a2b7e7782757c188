/* SPDX-License-Identifier: MIT
 *
 * Finds room for landings.
 */
#include "plan/landing.h"
#include "base/search.h"

enum { SHORT_REACH_BACK = 128, SHORT_REACH = 127 };

/* Room for a jump to a trampoline that a short jump behind at reaches. */
static uint64_t find_landing(const struct placements *p, uint64_t at)
{
	uint64_t run = 0;

	for (int64_t d = -SHORT_REACH_BACK; d <= SHORT_REACH + NEAR_JUMP - 1;
	     d++) {
		uint64_t addr = at + (uint64_t)d;

		run = placement_padding(p, addr, 1) ? run + 1 : 0;
		if (run >= NEAR_JUMP)
			return addr - (NEAR_JUMP - 1);
	}
	return 0;
}

/* Displaces more at an entry, so that there is room for a landing behind its
 * jump.  Returns whether there is. */
static int extend_entry(struct placements *p, struct placement *entry)
{
	uint64_t end = entry->addr, need = entry->addr + 2 * NEAR_JUMP;
	struct insn i;

	if (entry->length != NEAR_JUMP)
		return 0;
	while (end < need) {
		if (!placement_insn(p, end, &i) ||
		    (end >= entry->end && i.kind != INSN_PLAIN &&
		     i.kind != INSN_NOP))
			return 0;
		end += i.length;
		if (end < need && !insn_goes_on(&i))
			return 0;
	}
	return placement_extend(p, entry, end);
}

/* Finds an entry that a landing for the short jump that ends at `at` can lie
 * behind. */
static uint64_t find_host(struct placements *p, uint64_t at, uint32_t *host)
{
	uint64_t low = at - SHORT_REACH_BACK, high = at + SHORT_REACH;
	const struct functions *f = p->f;
	uint32_t i = search_while(k, f->n, f->all[k].end <= low);

	for (; i < f->n && f->all[i].start <= high; i++) {
		const struct plan_function *now = &f->all[i];
		uint64_t landing = now->entry + NEAR_JUMP;

		if (!now->entry_end || now->is_host || landing < low ||
		    landing > high || !extend_entry(p, &p->all[now->placement]))
			continue;
		*host = i;
		return landing;
	}
	return 0;
}

/* ---- for gdb ------------------------------------------------------------- */

/* Is a frame unwound at the landing as at the short jump? */
static int is_alike(const struct placements *p, const struct frame *frame,
		    uint64_t jump, uint64_t landing)
{
	uint64_t low = landing < jump ? landing : jump;
	const struct frame_rules *rules;
	struct frame_rules first;
	struct frame_cursor c;

	frame_cursor_init(&c, p->frames, frame);
	rules = frame_cursor_to(&c, low);
	if (!rules)
		return 0;
	first = *rules;
	rules = frame_cursor_to(&c, low == jump ? landing : jump);
	return rules && frame_rules_are_same(rules, &first);
}

/* Is it a call that may be one of the function: directly, by the linker's stub,
 * or by a pointer? */
static int may_call(const struct placements *p, const struct insn *i,
		    const struct plan_function *now)
{
	uint32_t called;

	if (i->kind == INSN_CALL_INDIRECT)
		return 1;
	if (i->kind != INSN_CALL)
		return 0;
	called = functions_at(p->f, i->target);
	return called == FUNCTION_NONE || p->f->all[called].is_stub ||
	       i->target == now->start;
}

/* Where a function calls itself, gdb steps on in the call, if the range that it
 * steps has the function's begin.  Such a range has all up to the call: so it
 * has the landing, if it has the jump, if the landing is below what is
 * returned. */
static uint64_t landing_limit(const struct placements *p,
			      const struct placement *one,
			      const struct plan_function *now)
{
	struct insn i;

	if (!p->is_for_gdb || !now->has_line)
		return now->end;
	for (uint64_t at = now->start; at < now->end; at++)
		if (image_marks(p->im, at) & MARK_CODE &&
		    placement_insn(p, at, &i) && may_call(p, &i, now))
			return at > one->addr ? at : one->addr;
	return now->end;
}

/* Does a step that comes to the landing go on as it does at the short jump?
 * Behind an end it compares the next line with no other of the function.  At an
 * entry it is passed over. */
static int is_of_step(const struct placements *p, const struct placement *one,
		      uint64_t landing, int is_strict)
{
	uint32_t differs =
		image_scope(p->im, one->addr) ^ image_scope(p->im, landing);

	if (one->kind == CST_PATCH_ENTRY)
		return !is_strict || !differs;
	return !(differs & SCOPE_CALL);
}

static int fits(const struct placements *p, const struct placement *one,
		const struct frame *frame, uint64_t landing, int is_strict)
{
	uint64_t at = one->addr + SHORT_JUMP;

	return landing >= at - SHORT_REACH_BACK &&
	       landing <= at + SHORT_REACH &&
	       is_of_step(p, one, landing, is_strict) &&
	       is_alike(p, frame, one->addr, landing);
}

static int is_movable(const struct insn *i)
{
	return i->kind == INSN_PLAIN || i->kind == INSN_NOP ||
	       i->kind == INSN_BRANCH || i->kind == INSN_JUMP;
}

/* The end of what a host at start displaces; 0: there can be none. */
static uint64_t host_end(const struct placements *p, uint64_t start)
{
	uint64_t end = start, need = start + 2 * NEAR_JUMP;
	struct insn i;

	while (end < need) {
		if (!placement_insn(p, end, &i) || !is_movable(&i))
			return 0;
		end += i.length;
		if (end < need && !insn_goes_on(&i))
			return 0;
	}
	return placement_is_clear(p, start, end) ? end : 0;
}

/* Adds a host, as near to the limit as may be.  Returns where it is, or 0. */
static uint64_t add_host(struct placements *p, const struct placement *one,
			 const struct plan_function *now, uint64_t limit,
			 int is_strict)
{
	uint64_t last = limit - NEAR_JUMP - 1;
	struct placement host = {
		.function = one->function,
		.kind = CST_PATCH_HOST,
		.length = NEAR_JUMP,
	};

	for (uint64_t at = last; at > now->start && !host.addr; at--) {
		if (!(image_marks(p->im, at) & MARK_CODE) ||
		    !fits(p, one, now->frame, at + NEAR_JUMP, is_strict))
			continue;
		host.end = host_end(p, at);
		if (host.end && host.end <= now->end)
			host.addr = at;
	}
	return host.addr && placement_add(p, &host) ? host.addr : 0;
}

static int take_own(struct placements *p, struct placement *one)
{
	uint32_t i = functions_at(p->f, one->addr);
	struct plan_function *now;
	uint64_t limit, jump = 0;

	if (i == FUNCTION_NONE || !p->f->all[i].frame)
		return 0;
	now = &p->f->all[i];
	limit = landing_limit(p, one, now);
	if (now->entry_end && !now->is_host && now->entry + NEAR_JUMP < limit &&
	    fits(p, one, now->frame, now->entry + NEAR_JUMP, 0) &&
	    extend_entry(p, &p->all[now->placement])) {
		now->is_host = 1;
		jump = now->entry;
	} else {
		jump = add_host(p, one, now, limit, 1);
		if (!jump)
			jump = add_host(p, one, now, limit, 0);
	}
	if (!jump)
		return 0;
	one->landing = jump + NEAR_JUMP;
	one->host = one->function;
	return 1;
}

static int find_room(struct placements *p, struct placement *one)
{
	uint64_t at = one->addr + SHORT_JUMP;

	if (p->is_for_gdb)
		return take_own(p, one);
	one->host = FUNCTION_NONE;
	one->landing = find_landing(p, at);
	if (one->landing) {
		image_mark_all(p->im, one->landing, NEAR_JUMP, MARK_TAKEN);
		return 1;
	}
	one->landing = find_host(p, at, &one->host);
	if (!one->landing)
		return take_own(p, one);
	p->f->all[one->host].is_host = 1;
	return 1;
}

int landing_add(struct placements *p, const struct placement *new)
{
	struct placement one = *new;
	uint64_t n = placement_end(new) - new->addr;
	int has_room;

	if (!placement_is_clear(p, one.addr, one.addr + n))
		return 0;
	image_mark_all(p->im, one.addr, n, MARK_TAKEN);
	has_room = find_room(p, &one);
	image_unmark_all(p->im, one.addr, n, MARK_TAKEN);
	return has_room && placement_add(p, &one);
}
