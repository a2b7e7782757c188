/* SPDX-License-Identifier: MIT
 *
 * Relocations give all addresses in the data of what can be loaded anywhere.
 */
#include "plan/references.h"
#include "base/bytes.h"

#include <string.h>

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

struct search {
	struct image *im;
	struct functions *f;
	GElf_Shdr restartable; /* sh_size 0: there is none */
};

static void see_address(struct search *s, uint64_t place, uint64_t addr)
{
	uint32_t i;

	if (!image_is_code(s->im, addr))
		return;
	image_mark(s->im, addr, MARK_LEADER | MARK_NAMED);
	i = functions_at(s->f, addr);
	if (i == FUNCTION_NONE)
		return;
	if (addr != s->f->all[i].start)
		s->f->all[i].has_table = 1;
	if (place - s->restartable.sh_addr < s->restartable.sh_size)
		s->f->all[i].is_restartable = 1;
}

static void see_relocation(struct search *s, const GElf_Rela *r,
			   Elf_Data *symbols)
{
	GElf_Sym symbol;

	switch (GELF_R_TYPE(r->r_info)) {
	case R_X86_64_RELATIVE:
	case R_X86_64_IRELATIVE:
		see_address(s, r->r_offset, (uint64_t)r->r_addend);
		break;
	case R_X86_64_64:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
		if (symbols &&
		    gelf_getsym(symbols, (int)GELF_R_SYM(r->r_info), &symbol) &&
		    symbol.st_shndx != SHN_UNDEF)
			see_address(s, r->r_offset,
				    symbol.st_value + (uint64_t)r->r_addend);
		break;
	default:
		break;
	}
}

static void see_relocations(struct search *s, Elf_Scn *section,
			    const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Scn *of = elf_getscn(s->im->file.elf, header->sh_link);
	Elf_Data *symbols = of ? elf_getdata(of, NULL) : NULL;
	GElf_Rela r;

	if (symbols && symbols->d_type != ELF_T_SYM)
		symbols = NULL;
	for (int i = 0; data && gelf_getrela(data, i, &r); i++)
		see_relocation(s, &r, symbols);
}

static void see_word(struct search *s, uint64_t place)
{
	uint64_t n = 0;
	const uint8_t *bytes = image_bytes(s->im, place, &n);

	if (bytes && n >= 8)
		see_address(s, place, get_u64(bytes));
}

/* Packed: an address of a word, or a map of which of the next 63 words. */
static void see_packed(struct search *s, const GElf_Shdr *header)
{
	uint64_t n = 0, place = 0;
	const uint8_t *bytes = image_bytes(s->im, header->sh_addr, &n);

	if (!bytes)
		return;
	if (header->sh_size < n)
		n = header->sh_size;
	for (uint64_t i = 0; i + 8 <= n; i += 8) {
		uint64_t entry = get_u64(bytes + i);

		if (!(entry & 1)) {
			see_word(s, entry);
			place = entry + 8;
			continue;
		}
		for (uint64_t bit = 0; bit < 63; bit++)
			if (entry >> (bit + 1) & 1)
				see_word(s, place + 8 * bit);
		place += 8 * 63;
	}
}

static void see_sections(struct search *s)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(s->im->file.elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		if (header.sh_type == SHT_RELA)
			see_relocations(s, section, &header);
		else if (header.sh_type == SHT_RELR)
			see_packed(s, &header);
	}
}

static void see_words(struct search *s)
{
	for (uint32_t i = 0; i < s->im->n_sections; i++) {
		const struct image_section *section = &s->im->sections[i];
		uint64_t at = (section->start + 7) & ~7ull;

		if (!section->is_data)
			continue;
		for (; at + 8 <= section->end; at += 8)
			see_address(s, at,
				    get_u64(section->bytes +
					    (at - section->start)));
	}
}

static void see_symbols(struct image *im, const struct symtab *t, unsigned mark)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (image_is_code(im, t->entries[i].range.start))
			image_mark(im, t->entries[i].range.start, mark);
}

void references_mark(struct image *im, struct functions *f)
{
	struct search s = {.im = im, .f = f};

	if (!elf_file_section_named(im->file.elf, "__rseq_cs", &s.restartable))
		s.restartable.sh_size = 0;
	see_sections(&s);
	if (im->is_fixed)
		see_words(&s);
	see_symbols(im, &f->symbols, MARK_LEADER);
	see_symbols(im, &f->exports, MARK_LEADER | MARK_NAMED);
	if (image_is_code(im, im->entry))
		image_mark(im, im->entry, MARK_LEADER | MARK_NAMED);
}
