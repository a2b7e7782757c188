/* SPDX-License-Identifier: MIT
 *
 * Relocations that name one of the hooks.
 */
#include "elf/hook_slots.h"

#include <string.h>

int hook_of_name(const char *name)
{
	if (!name)
		return 0;
	return !strcmp(name, "__cyg_profile_func_enter")  ? 1
	       : !strcmp(name, "__cyg_profile_func_exit") ? 2
							  : 0;
}

static int is_address(const GElf_Rela *r)
{
	uint64_t type = GELF_R_TYPE(r->r_info);

	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
	       (type == R_X86_64_64 && !r->r_addend);
}

static uint32_t add_section(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			    struct cst_hook_slot *out, uint32_t room,
			    uint32_t n)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Scn *of = elf_getscn(elf, header->sh_link);
	Elf_Data *symbols = of ? elf_getdata(of, NULL) : NULL;
	GElf_Shdr table;
	GElf_Sym symbol;
	GElf_Rela r;

	if (!symbols || symbols->d_type != ELF_T_SYM ||
	    !gelf_getshdr(of, &table))
		return n;
	for (int i = 0; data && gelf_getrela(data, i, &r); i++) {
		int hook =
			is_address(&r) && gelf_getsym(symbols,
						      (int)GELF_R_SYM(r.r_info),
						      &symbol)
				? hook_of_name(elf_strptr(elf, table.sh_link,
							  symbol.st_name))
				: 0;

		if (!hook)
			continue;
		if (n < room)
			out[n] = (struct cst_hook_slot){.address = r.r_offset,
							.is_exit = hook == 2};
		n++;
	}
	return n;
}

uint32_t hook_slots_find(Elf *elf, struct cst_hook_slot *out, uint32_t room)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint32_t n = 0;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
			n = add_section(elf, section, &header, out, room, n);
	return n;
}

int cst_hook_slots(const char *path, struct cst_hook_slot *out, uint32_t room)
{
	struct elf_file f;
	uint32_t n;

	if (!elf_file_open(&f, elf_file_descriptor(path)))
		return 0;
	n = hook_slots_find(f.elf, out, room);
	elf_file_close(&f);
	return (int)n;
}
