/* SPDX-License-Identifier: MIT
 *
 * Claims bytes of the image for patches.
 */
#include "plan/placement.h"
#include "base/array.h"

#include <stdlib.h>

void placements_release(struct placements *p)
{
	free(p->all);
	*p = (struct placements){0};
}

void placements_clear(struct placements *p)
{
	struct image *im = p->im;

	image_unmark_all(im, im->code_start, im->code_end - im->code_start,
			 MARK_TAKEN);
	p->n = 0;
	for (uint32_t i = 0; i < p->f->n; i++) {
		struct plan_function *now = &p->f->all[i];

		now->entry = now->entry_end = 0;
		now->is_host = now->ends_in_entry = 0;
		if (now->reason == CST_PLAN_NO_ROOM ||
		    now->reason == CST_PLAN_IMMOVABLE)
			now->reason = CST_PLAN_TRACED;
	}
}

static int compare(const void *a, const void *b)
{
	const struct placement *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void placements_sort(struct placements *p)
{
	if (p->n)
		qsort(p->all, p->n, sizeof(*p->all), compare);
}

int placement_is_clear(const struct placements *p, uint64_t start, uint64_t end)
{
	enum { IN_THE_WAY = MARK_LEADER | MARK_RETURN | MARK_ROW };

	if (image_marks(p->im, start) & MARK_TAKEN)
		return 0;
	for (uint64_t at = start + 1; at < end; at++)
		if (image_marks(p->im, at) & (IN_THE_WAY | MARK_TAKEN))
			return 0;
	return 1;
}

uint64_t placement_padding(const struct placements *p, uint64_t addr,
			   uint64_t n)
{
	uint64_t i = 0;

	while (i < n && (image_marks(p->im, addr + i) &
			 (MARK_PADDING | MARK_TAKEN)) == MARK_PADDING)
		i++;
	return i;
}

int placement_insn(const struct placements *p, uint64_t addr, struct insn *out)
{
	uint64_t n = 0;
	const uint8_t *bytes = image_bytes(p->im, addr, &n);

	return bytes && insn_decode(out, bytes, n, addr);
}

int placement_extend(struct placements *p, struct placement *entry,
		     uint64_t end)
{
	enum { IN_THE_WAY = MARK_LEADER | MARK_RETURN | MARK_ROW };
	struct plan_function *now = &p->f->all[entry->function];

	if (end <= entry->end)
		return 1;
	if (image_marks(p->im, entry->end) & IN_THE_WAY ||
	    !placement_is_clear(p, entry->end, end) || end > now->end)
		return 0;
	image_mark_all(p->im, entry->end, end - entry->end, MARK_TAKEN);
	entry->end = end;
	now->entry_end = end;
	return 1;
}

int placement_absorb(struct placements *p, const struct placement *end)
{
	enum { FAR = 32 };
	struct plan_function *now = &p->f->all[end->function];
	struct placement *entry = &p->all[now->placement];
	uint64_t at = entry->addr;
	struct insn i;

	if (entry->ending || entry->end > end->addr ||
	    end->addr - entry->addr > FAR)
		return 0;
	for (; at < end->addr; at += i.length)
		if (!placement_insn(p, at, &i) || !insn_goes_on(&i) ||
		    (at >= entry->end && i.kind == INSN_BRANCH))
			return 0;
	if (at != end->addr || !placement_insn(p, at, &i) ||
	    !placement_extend(p, entry, at + i.length))
		return 0;
	entry->ending = end->kind == CST_PATCH_TAIL ? ENDING_TAIL : ENDING_EXIT;
	now->ends_in_entry = 1;
	return 1;
}

uint64_t placement_end(const struct placement *one)
{
	uint64_t patched = one->addr + one->length;

	return one->end > patched ? one->end : patched;
}

int placement_add(struct placements *p, const struct placement *new)
{
	uint64_t end = placement_end(new);
	struct placement *now;

	if (!placement_is_clear(p, new->addr, end))
		return 0;
	if (array_room(&p->all, &p->cap, p->n + 1ull)) {
		p->failed = 1;
		return 0;
	}
	image_mark_all(p->im, new->addr, end - new->addr, MARK_TAKEN);
	now = &p->all[p->n++];
	*now = *new;
	if (!now->landing)
		now->host = FUNCTION_NONE;
	return 1;
}

int placement_is_bare(const struct placements *p,
		      const struct plan_function *now, uint64_t addr)
{
	const struct frame_rules *rules;
	struct frame_cursor c;

	if (!now->frame)
		return 0;
	frame_cursor_init(&c, p->frames, now->frame);
	rules = frame_cursor_to(&c, addr);
	return rules && frame_is_bare(rules);
}

static uint32_t whole_at(const struct functions *f, uint64_t addr)
{
	uint32_t i = functions_at(f, addr);

	return i == FUNCTION_NONE ? i : f->all[i].whole;
}

static enum ending ending_of_jump(const struct placements *p,
				  const struct plan_function *now,
				  uint64_t target, int is_bare)
{
	const struct image_section *section;
	uint32_t other = functions_at(p->f, target);

	if (target >= now->start && target < now->end)
		return ENDING_NONE;
	if (other != FUNCTION_NONE && now->whole != FUNCTION_NONE &&
	    whole_at(p->f, target) == now->whole)
		return ENDING_NONE;
	if (!is_bare)
		return ENDING_NONE;
	if (other != FUNCTION_NONE)
		return p->f->all[other].start == target &&
				       !p->f->all[other].is_cold
			       ? ENDING_TAIL
			       : ENDING_LOST;
	section = image_section_at(p->im, target);
	return section && section->is_linkage ? ENDING_TAIL : ENDING_LOST;
}

/* A register may hold the address of a function or of a case of a switch. */
static enum ending ending_of_indirect(const struct plan_function *now,
				      const struct insn *i, int is_bare)
{
	if (!is_bare)
		return ENDING_NONE;
	if (i->is_slot)
		return ENDING_TAIL;
	if (i->is_register && !now->has_table && !now->has_label)
		return ENDING_TAIL;
	return ENDING_NONE;
}

enum ending placement_ending(const struct placements *p, uint32_t function,
			     const struct insn *i, int is_bare)
{
	const struct plan_function *now = &p->f->all[function];
	enum ending ending = ENDING_NONE;

	if (i->kind == INSN_RETURN)
		return ENDING_EXIT;
	if (i->kind == INSN_JUMP || i->kind == INSN_BRANCH)
		ending = ending_of_jump(p, now, i->target, is_bare);
	else if (i->kind == INSN_JUMP_INDIRECT)
		ending = ending_of_indirect(now, i, is_bare);
	return ending;
}
