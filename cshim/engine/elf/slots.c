/* SPDX-License-Identifier: MIT
 *
 * Relocations of sections that are loaded.
 */
#include "elf/slots.h"

#include <stddef.h>

static const char *name_of(Elf *elf, Elf_Data *symbols, const GElf_Shdr *table,
			   const GElf_Rela *r)
{
	int number = (int)GELF_R_SYM(r->r_info);
	GElf_Sym symbol;

	return symbols && number && gelf_getsym(symbols, number, &symbol)
		       ? elf_strptr(elf, table->sh_link, symbol.st_name)
		       : NULL;
}

void slots_each(Elf *elf,
		void (*see)(void *arg, const GElf_Rela *r, const char *name),
		void *arg)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header, table;
	GElf_Rela r;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = elf_getdata(section, NULL), *symbols;
		Elf_Scn *of;

		if (!gelf_getshdr(section, &header) ||
		    header.sh_type != SHT_RELA ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		of = elf_getscn(elf, header.sh_link);
		symbols = of && gelf_getshdr(of, &table) ? elf_getdata(of, NULL)
							 : NULL;
		if (symbols && symbols->d_type != ELF_T_SYM)
			symbols = NULL;
		for (int i = 0; data && gelf_getrela(data, i, &r); i++)
			see(arg, &r, name_of(elf, symbols, &table, &r));
	}
}
