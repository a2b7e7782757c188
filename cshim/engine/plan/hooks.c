/* SPDX-License-Identifier: MIT
 *
 * Follows the hooks' names from relocations and symbols to the places that a
 * call of them names.
 */
#include "plan/hooks.h"
#include "elf/hook_slots.h"

static void add(struct hooks *h, uint64_t addr)
{
	if (h->n < HOOKS_MAX && !hooks_has(h, addr))
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
		if (i.kind == INSN_JUMP_INDIRECT && i.is_relative &&
		    hooks_has(h, i.data)) {
			add(h, addr);
			add(h, first);
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
		add(h, slots[i].address);
	for (uint32_t i = 0; h->n && i < im->n_sections; i++)
		if (im->sections[i].is_linkage)
			add_entries(h, &im->sections[i]);
	for (uint32_t i = 0; i < f->n; i++) {
		if (!hook_of_name(f->all[i].name))
			continue;
		f->all[i].is_hooked = 1; /* or it would report itself */
		add(h, f->all[i].start);
	}
}
