/* SPDX-License-Identifier: MIT
 *
 * Follows the hooks' names from relocations and symbols to the places that a
 * call of them names.
 */
#include "plan/hooks.h"

#include <string.h>

static void add(struct hooks *h, uint64_t addr)
{
	if (h->n < HOOKS_MAX && !hooks_has(h, addr))
		h->places[h->n++] = addr;
}

static int is_hook(const char *name)
{
	return name && (!strcmp(name, "__cyg_profile_func_enter") ||
			!strcmp(name, "__cyg_profile_func_exit"));
}

/* The words that the dynamic linker fills with the hooks' addresses. */
static void add_words(struct hooks *h, const struct image *im, Elf_Scn *section,
		      const GElf_Shdr *header)
{
	Elf *elf = im->file.elf;
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Scn *of = elf_getscn(elf, header->sh_link);
	Elf_Data *symbols = of ? elf_getdata(of, NULL) : NULL;
	GElf_Shdr table;
	GElf_Sym symbol;
	GElf_Rela r;

	if (!symbols || symbols->d_type != ELF_T_SYM ||
	    !gelf_getshdr(of, &table))
		return;
	for (int i = 0; data && gelf_getrela(data, i, &r); i++) {
		uint32_t type = GELF_R_TYPE(r.r_info);

		if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
		    gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &symbol) &&
		    is_hook(elf_strptr(elf, table.sh_link, symbol.st_name)))
			add(h, r.r_offset);
	}
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
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	*h = (struct hooks){0};
	while ((section = elf_nextscn(im->file.elf, section)))
		if (gelf_getshdr(section, &header) &&
		    header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
			add_words(h, im, section, &header);
	for (uint32_t i = 0; h->n && i < im->n_sections; i++)
		if (im->sections[i].is_linkage)
			add_entries(h, &im->sections[i]);
	for (uint32_t i = 0; i < f->n; i++) {
		if (!is_hook(f->all[i].name))
			continue;
		f->all[i].is_hooked = 1; /* or it would report itself */
		add(h, f->all[i].start);
	}
}
