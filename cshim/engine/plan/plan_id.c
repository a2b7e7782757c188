/* SPDX-License-Identifier: MIT
 *
 * The shim does the same from what is mapped (kernel/buildid.c there).
 */
#include "plan/plan_id.h"
#include "cstrace/plan_layout.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

struct raw {
	const uint8_t *bytes;
	size_t size;
};

/* NULL: the file ends before. */
static const void *at(const struct raw *r, uint64_t offset, uint64_t size)
{
	return offset <= r->size && size <= r->size - offset ? r->bytes + offset
							     : NULL;
}

struct head {
	Elf64_Ehdr file;
	Elf64_Phdr segments[CST_PLAN_MAX_SEGMENTS];
	const Elf64_Phdr *frames; /* one of these, or NULL */
};

static int read_head(const struct raw *r, struct head *out)
{
	const Elf64_Ehdr *file = &out->file;
	const void *bytes = at(r, 0, sizeof(*file));

	if (!bytes)
		return 0;
	memcpy(&out->file, bytes, sizeof(out->file));
	if (memcmp(file->e_ident, ELFMAG, SELFMAG) ||
	    file->e_ident[EI_CLASS] != ELFCLASS64 ||
	    file->e_phentsize != sizeof(*out->segments) ||
	    file->e_phnum > CST_PLAN_MAX_SEGMENTS)
		return 0;
	bytes = at(r, file->e_phoff, file->e_phnum * sizeof(*out->segments));
	if (!bytes)
		return 0;
	memcpy(out->segments, bytes, file->e_phnum * sizeof(*out->segments));
	out->frames = NULL;
	for (int i = 0; i < file->e_phnum; i++)
		if (out->segments[i].p_type == PT_GNU_EH_FRAME)
			out->frames = &out->segments[i];
	return 1;
}

static void put_sum(const struct elf_file *f, char out[BUILD_ID_SIZE])
{
	uint8_t name[CST_PLAN_ID_SIZE];
	const uint8_t *frames;
	struct raw r = {0};
	struct head h;
	uint64_t id, n;

	r.bytes = (const uint8_t *)elf_rawfile(f->elf, &r.size);
	if (!r.bytes || !read_head(&r, &h) || !h.frames)
		return;
	frames = at(&r, h.frames->p_offset, h.frames->p_filesz);
	if (!frames)
		return;
	id = cst_plan_id_more(0, &h.file, sizeof(h.file));
	id = cst_plan_id_more(id, h.segments,
			      h.file.e_phnum * sizeof(*h.segments));
	for (uint64_t i = 0; i < h.frames->p_filesz; i += n) {
		n = h.frames->p_filesz - i;
		n = n < CST_PLAN_ID_BLOCK ? n : CST_PLAN_ID_BLOCK;
		id = cst_plan_id_more(id, frames + i, n);
	}
	cst_plan_id_put(id, name);
	for (int i = 0; i < CST_PLAN_ID_SIZE; i++)
		snprintf(out + 2 * (size_t)i, 3, "%02x", name[i]);
}

void plan_id(const struct elf_file *f, char out[BUILD_ID_SIZE])
{
	elf_file_build_id(f, out);
	if (!*out)
		put_sum(f, out);
}
