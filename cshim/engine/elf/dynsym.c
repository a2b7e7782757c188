/* SPDX-License-Identifier: MIT
 *
 * The first entry of the table stands for no symbol.
 */
#include "elf/dynsym.h"
#include "elf/elffile.h"

#include <string.h>

void dynsym_init(struct dynsym *d, Elf *elf)
{
	Elf_Scn *section;

	*d = (struct dynsym){.elf = elf, .next = 1};
	section = elf_file_section(elf, SHT_DYNSYM, &d->header);
	d->data = section ? elf_getdata(section, NULL) : NULL;
}

int dynsym_next(struct dynsym *d, struct dynsym_entry *out)
{
	while (d->data && gelf_getsym(d->data, d->next++, &out->symbol)) {
		out->name = elf_strptr(d->elf, d->header.sh_link,
				       out->symbol.st_name);
		if (out->name && *out->name)
			return 1;
	}
	return 0;
}

enum dynsym_use dynsym_use(Elf *elf, const char *name)
{
	struct dynsym_entry e;
	struct dynsym d;

	dynsym_init(&d, elf);
	while (dynsym_next(&d, &e))
		if (!strcmp(e.name, name))
			return e.symbol.st_shndx == SHN_UNDEF ? DYNSYM_TAKEN
							      : DYNSYM_OWN;
	return DYNSYM_NONE;
}
