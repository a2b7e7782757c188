/* SPDX-License-Identifier: MIT
 *
 * Follows the hooks' names from relocations and symbols to the places that a
 * call of them names.
 */
#include "plan/hooks.h"
#include "cstrace/layout.h"
#include "elf/hook_slots.h"

#include <string.h>

static void add(struct hooks *h, uint64_t addr, int kind)
{
	if (h->n == HOOKS_MAX || !kind || hooks_kind(h, addr))
		return;
	h->kinds[h->n] = (uint8_t)kind;
	h->places[h->n++] = addr;
}

/* An entry of the PLT jumps to what such a word holds; before that may be an
 * endbr64. */
static void add_entries(struct hooks *h, const struct image_section *s)
{
	uint64_t addr = s->start, first = addr;
	struct insn i;

	for (; addr < s->end; addr += i.length) {
		if (!insn_decode(&i, s->bytes + (addr - s->start),
				 s->end - addr, addr)) {
			i.length = 1;
			continue;
		}
		if (i.kind == INSN_JUMP_INDIRECT && i.is_relative) {
			add(h, addr, hooks_kind(h, i.data));
			add(h, first, hooks_kind(h, i.data));
		}
		/* Where an entry may begin: behind a jump and padding. */
		if (i.kind == INSN_NOP || i.kind == INSN_JUMP ||
		    i.kind == INSN_JUMP_INDIRECT)
			first = addr + i.length;
	}
}

void hooks_find(struct hooks *h, const struct image *im, struct functions *f)
{
	struct cst_hook_slot slots[HOOKS_MAX];
	uint32_t n = hook_slots_find(im->file.elf, slots, HOOKS_MAX);

	*h = (struct hooks){0};
	for (uint32_t i = 0; i < n && i < HOOKS_MAX; i++)
		add(h, slots[i].address,
		    slots[i].is_exit ? CST_EXIT : CST_ENTER);
	for (uint32_t i = 0; h->n && i < im->n_sections; i++)
		if (im->sections[i].is_linkage)
			add_entries(h, &im->sections[i]);
	for (uint32_t i = 0; i < f->n; i++) {
		int kind = hook_of_name(f->all[i].name);

		if (!kind)
			continue;
		f->all[i].is_hooked = 1; /* or it would report itself */
		add(h, f->all[i].start, kind);
	}
}

/* The kind of the hook that bytes at addr call, n of them at least 6, and in
 * *length how many do so; 0: they call none.  Each byte of large files comes
 * here, so they are not decoded. */
static int call_kind(const struct hooks *h, const uint8_t *bytes, uint64_t addr,
		     uint32_t *length)
{
	int32_t offset;

	if (*bytes == 0xe8)
		*length = 5;
	else if (bytes[0] == 0xff && bytes[1] == 0x15)
		*length = 6;
	else
		return 0;
	memcpy(&offset, bytes + *length - sizeof(offset), sizeof(offset));
	return hooks_kind(h, addr + *length + (uint64_t)(int64_t)offset);
}

void hooks_each_call(const struct hooks *h, const struct image *im,
		     int (*hear)(void *arg, uint64_t hook, int kind), void *arg)
{
	uint32_t length;

	for (uint32_t i = 0; h->n && i < im->n_sections; i++) {
		const struct image_section *s = &im->sections[i];

		for (uint64_t at = s->start; s->is_code && at + 6 <= s->end;
		     at++) {
			int kind = call_kind(h, s->bytes + (at - s->start), at,
					     &length);

			if (kind && !hear(arg, at + length, kind))
				return;
		}
	}
}
