/* SPDX-License-Identifier: MIT
 *
 * The shim does the same from what is mapped (kernel/buildid.c there).
 */
#include "plan/plan_id.h"
#include "cstrace/plan_layout.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct head {
	Elf64_Ehdr file;
	Elf64_Phdr segments[CST_PLAN_MAX_SEGMENTS];
	int has_table; /* PT_GNU_EH_FRAME */
};

/* Returns 0: the file ends before. */
static int get(const struct elf_file *f, uint64_t at, void *out, size_t size)
{
	return pread(f->fd, out, size, (off_t)at) == (ssize_t)size;
}

static int read_head(const struct elf_file *f, struct head *out)
{
	const Elf64_Ehdr *file = &out->file;

	out->has_table = 0;
	if (!get(f, 0, &out->file, sizeof(*file)) ||
	    memcmp(file->e_ident, ELFMAG, SELFMAG) ||
	    file->e_ident[EI_CLASS] != ELFCLASS64 ||
	    file->e_phentsize != sizeof(*out->segments) ||
	    file->e_phnum > CST_PLAN_MAX_SEGMENTS ||
	    !get(f, file->e_phoff, out->segments,
		 file->e_phnum * sizeof(*out->segments)))
		return 0;
	for (int i = 0; i < file->e_phnum; i++)
		out->has_table |= out->segments[i].p_type == PT_GNU_EH_FRAME;
	return 1;
}

static int add_segment(const struct elf_file *f, const Elf64_Phdr *segment,
		       uint64_t *id)
{
	uint64_t block[CST_PLAN_ID_BLOCK / sizeof(uint64_t)];

	for (uint64_t at = 0; at < segment->p_filesz; at += sizeof(block)) {
		uint64_t left = segment->p_filesz - at;
		size_t n = left < sizeof(block) ? left : sizeof(block);

		if (!get(f, segment->p_offset + at, block, n))
			return 0;
		*id = cst_plan_id_more(*id, block, n);
	}
	return 1;
}

/* Returns how many segments were added, or -1: one cannot be read. */
static int add_segments(const struct elf_file *f, const struct head *h,
			uint64_t *id)
{
	int n = 0;

	for (int i = 0; i < h->file.e_phnum; i++) {
		const Elf64_Phdr *s = &h->segments[i];

		if (!cst_plan_id_has(s->p_type, s->p_flags, h->has_table))
			continue;
		if (!add_segment(f, s, id))
			return -1;
		n++;
	}
	return n;
}

static void put_sum(const struct elf_file *f, char out[BUILD_ID_SIZE])
{
	uint8_t name[CST_PLAN_ID_SIZE];
	struct head h;
	uint64_t id;

	if (!read_head(f, &h))
		return;
	id = cst_plan_id_more(0, &h.file, sizeof(h.file));
	id = cst_plan_id_more(id, h.segments,
			      h.file.e_phnum * sizeof(*h.segments));
	if (add_segments(f, &h, &id) <= 0)
		return;
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
