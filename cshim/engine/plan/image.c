/* SPDX-License-Identifier: MIT
 *
 * Reads the sections of an ELF file that are loaded.
 */
#include "plan/image.h"
#include "base/array.h"
#include "base/search.h"
#include "base/text.h"
#include "elf/stubs.h"
#include "elf/x86_64.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGE_MAX = 1 << 30 };

/* The parts that are run, but are none of the compiler's functions. */
static int is_linkage(const char *name)
{
	return stubs_are_in(name) || !strcmp(name, ".init") ||
	       !strcmp(name, ".fini");
}

static int may_hold_addresses(const char *name)
{
	return !text_begins(name, ".eh_frame") &&
	       !text_begins(name, ".gcc_except") &&
	       !text_begins(name, ".note") && !text_begins(name, ".gnu.") &&
	       !text_begins(name, ".dyn");
}

static int compare_sections(const void *a, const void *b)
{
	const struct image_section *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int add_section(struct image *im, Elf_Scn *section,
		       const GElf_Shdr *header, const char *name)
{
	Elf_Data *data = elf_getdata(section, NULL);
	struct image_section *s;

	if (!data || !data->d_buf || data->d_size != header->sh_size ||
	    !data->d_size || header->sh_addr > UINT64_MAX / 4 ||
	    header->sh_size > IMAGE_MAX)
		return 0;
	if (array_room(&im->sections, &im->cap_sections, im->n_sections + 1ull))
		return CST_MEMORY;
	s = &im->sections[im->n_sections++];
	*s = (struct image_section){
		.start = header->sh_addr,
		.end = header->sh_addr + header->sh_size,
		.bytes = data->d_buf,
	};
	if (header->sh_flags & SHF_EXECINSTR) {
		s->is_linkage = (uint8_t)is_linkage(name);
		s->is_code = !s->is_linkage;
	} else {
		s->is_data = (uint8_t)may_hold_addresses(name);
	}
	return 0;
}

static int add_sections(struct image *im, struct cst_error *err)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(im->file.elf, &names))
		return cst_fail(CST_BAD_INPUT, err, "it has no sections");
	while ((section = elf_nextscn(im->file.elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header) ||
		    !(header.sh_flags & SHF_ALLOC) ||
		    header.sh_flags & SHF_TLS || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(im->file.elf, names, header.sh_name);
		if (name && add_section(im, section, &header, name))
			return cst_fail_memory(err);
	}
	if (im->n_sections)
		qsort(im->sections, im->n_sections, sizeof(*im->sections),
		      compare_sections);
	for (uint32_t i = 1; i < im->n_sections; i++)
		if (im->sections[i].start < im->sections[i - 1].end)
			return cst_fail(CST_BAD_INPUT, err,
					"its sections overlap");
	return 0;
}

static int measure_image(struct image *im, struct cst_error *err)
{
	size_t n = 0;

	im->start = UINT64_MAX;
	if (elf_getphdrnum(im->file.elf, &n))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(im->file.elf, (int)i, &p) ||
		    p.p_type != PT_LOAD || p.p_vaddr > UINT64_MAX / 4 ||
		    p.p_memsz > IMAGE_MAX)
			continue;
		if (p.p_vaddr < im->start)
			im->start = p.p_vaddr;
		if (p.p_vaddr + p.p_memsz > im->end)
			im->end = p.p_vaddr + p.p_memsz;
	}
	im->start &= ~4095ull;
	im->end = (im->end + 4095) & ~4095ull;
	if (im->end <= im->start || im->end - im->start > IMAGE_MAX)
		return cst_fail(CST_BAD_INPUT, err,
				"nothing of it is loaded, "
				"or too much");
	return 0;
}

static int measure_code(struct image *im, struct cst_error *err)
{
	im->code_start = UINT64_MAX;
	for (uint32_t i = 0; i < im->n_sections; i++) {
		const struct image_section *s = &im->sections[i];

		if (s->start < im->start || s->end > im->end)
			return cst_fail(CST_BAD_INPUT, err,
					"a section is not loaded");
		if (!s->is_code)
			continue;
		if (s->start < im->code_start)
			im->code_start = s->start;
		im->code_end = s->end;
	}
	if (im->code_end <= im->code_start)
		return cst_fail(CST_BAD_INPUT, err, "it has no code");
	im->marks = calloc(im->code_end - im->code_start, 1);
	return im->marks ? 0 : cst_fail_memory(err);
}

int image_open(struct image *im, const char *path, struct cst_error *err)
{
	GElf_Ehdr header;
	int status;

	*im = (struct image){0};
	if (!elf_file_open(&im->file, elf_file_descriptor(path)) ||
	    !gelf_getehdr(im->file.elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN) ||
	    header.e_machine != PROCESSOR_ELF_MACHINE ||
	    header.e_ident[EI_CLASS] != PROCESSOR_ELF_CLASS)
		return cst_fail(CST_BAD_INPUT, err,
				"it is no program or library for x86-64");
	im->is_fixed = header.e_type == ET_EXEC;
	im->entry = header.e_entry;
	status = add_sections(im, err);
	if (!status)
		status = measure_image(im, err);
	return status ? status : measure_code(im, err);
}

void image_close(struct image *im)
{
	elf_file_close(&im->file);
	free(im->sections);
	free(im->marks);
	free(im->scopes);
	*im = (struct image){.file.fd = -1};
}

const struct image_section *image_section_at(const struct image *im,
					     uint64_t addr)
{
	uint32_t n =
		search_while(i, im->n_sections, im->sections[i].start <= addr);

	return n && addr < im->sections[n - 1].end ? &im->sections[n - 1]
						   : NULL;
}

const uint8_t *image_bytes(const struct image *im, uint64_t addr, uint64_t *n)
{
	const struct image_section *s = image_section_at(im, addr);

	if (!s)
		return NULL;
	*n = s->end - addr;
	return s->bytes + (addr - s->start);
}

int image_is_code(const struct image *im, uint64_t addr)
{
	const struct image_section *s;

	if (addr < im->code_start || addr >= im->code_end)
		return 0;
	s = image_section_at(im, addr);
	return s && s->is_code;
}
