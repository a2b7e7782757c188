/* SPDX-License-Identifier: MIT
 *
 * A stub is an indirect jump, behind an endbr64 where the file has them.
 */
#include "plan/stubs.h"
#include "base/array.h"
#include "base/search.h"
#include "elf/slots.h"

#include <stdlib.h>

struct search {
	struct stubs *stubs;
	int failed;
};

static void see(void *arg, const GElf_Rela *r, const char *name)
{
	uint64_t type = GELF_R_TYPE(r->r_info);
	struct stub new = {.slot = r->r_offset};
	struct search *s = arg;

	if (type == R_X86_64_IRELATIVE)
		new.resolver = (uint64_t)r->r_addend;
	else if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
		 name && *name)
		new.name = name;
	else
		return;
	if (array_room(&s->stubs->all, &s->stubs->cap, s->stubs->n + 1ull))
		s->failed = 1;
	else
		s->stubs->all[s->stubs->n++] = new;
}

static int compare(const void *a, const void *b)
{
	const struct stub *x = a, *y = b;

	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

int stubs_init(struct stubs *s, const struct image *im)
{
	struct search search = {.stubs = s};

	*s = (struct stubs){0};
	slots_each(im->file.elf, see, &search);
	if (s->n)
		qsort(s->all, s->n, sizeof(*s->all), compare);
	return search.failed ? CST_MEMORY : 0;
}

void stubs_release(struct stubs *s)
{
	free(s->all);
	*s = (struct stubs){0};
}

/* The word that the code at addr, or behind its first instruction, jumps by;
 * 0: none. */
static uint64_t slot_at(const struct image *im, uint64_t addr)
{
	const struct image_section *section = image_section_at(im, addr);
	uint64_t n = 0;
	const uint8_t *code = image_bytes(im, addr, &n);
	struct insn i;

	if (!section || !section->is_linkage || !code ||
	    !insn_decode(&i, code, n, addr))
		return 0;
	if (insn_goes_on(&i) &&
	    !insn_decode(&i, code + i.length, n - i.length, addr + i.length))
		return 0;
	return i.is_slot ? i.data : 0;
}

const struct stub *stubs_find(const struct stubs *s, const struct image *im,
			      const struct insn *jump)
{
	uint64_t slot = jump->is_slot ? jump->data : slot_at(im, jump->target);
	uint32_t i = search_while(k, s->n, s->all[k].slot < slot);

	return i < s->n && s->all[i].slot == slot ? &s->all[i] : NULL;
}
