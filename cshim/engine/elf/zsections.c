/* SPDX-License-Identifier: MIT
 *
 * Unpacks debug sections that are packed with zstd, which the usual libelf
 * cannot read.
 */
#include "elf/zsections.h"
#include "base/array.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* What a section says it unpacks to is not believed beyond this. */
#define MOST_BYTES ((uint64_t)4 << 30)

/* Not .debug_loc and its like, which are large and of no use here. */
static int is_wanted(const char *name)
{
	static const char *const names[] = {
		".debug_info",	   ".debug_abbrev",   ".debug_line",
		".debug_line_str", ".debug_str",      ".debug_str_offsets",
		".debug_ranges",   ".debug_rnglists", ".debug_addr",
		".debug_types",	   ".debug_frame",
	};

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

/* The caller's to free; NULL: it is not what the header says. */
static void *unpack(const void *packed, size_t n, uint64_t size)
{
	void *out = size && size <= MOST_BYTES ? malloc(size) : NULL;

	if (out && ZSTD_decompress(out, size, packed, n) != size) {
		free(out);
		return NULL;
	}
	return out;
}

static int is_packed(Elf_Scn *section, const GElf_Shdr *header, GElf_Chdr *out)
{
	return (header->sh_flags & SHF_COMPRESSED) &&
	       header->sh_type != SHT_NOBITS && gelf_getchdr(section, out) &&
	       out->ch_type == ELFCOMPRESS_ZSTD;
}

static void unpack_section(struct zsections *z, Elf_Scn *section,
			   GElf_Shdr *header, size_t header_size)
{
	GElf_Chdr packed;
	Elf_Data *data;
	void *bytes;

	if (!is_packed(section, header, &packed) ||
	    array_room(&z->all, &z->cap, z->n + 1ull) < 0)
		return;
	data = elf_getdata(section, NULL);
	if (!data || data->d_size < header_size)
		return;
	bytes = unpack((const char *)data->d_buf + header_size,
		       data->d_size - header_size, packed.ch_size);
	if (!bytes)
		return;
	z->all[z->n++] = bytes;
	data->d_buf = bytes;
	data->d_size = packed.ch_size;
	data->d_type = ELF_T_BYTE;
	data->d_align = packed.ch_addralign;
	header->sh_size = packed.ch_size;
	header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header->sh_addralign = packed.ch_addralign;
	gelf_update_shdr(section, header);
}

void zsections_unpack(struct zsections *z, Elf *elf)
{
	size_t header_size = gelf_fsize(elf, ELF_T_CHDR, 1, EV_CURRENT), names;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (z->is_done || elf_getshdrstrndx(elf, &names))
		return;
	z->is_done = 1;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    is_wanted(elf_strptr(elf, names, header.sh_name)))
			unpack_section(z, section, &header, header_size);
}

void zsections_release(struct zsections *z)
{
	for (uint32_t i = 0; i < z->n; i++)
		free(z->all[i]);
	free(z->all);
	*z = (struct zsections){0};
}
