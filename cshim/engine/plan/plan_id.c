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

static const Elf64_Phdr *segments_of(const struct raw *r,
				     const Elf64_Ehdr *head)
{
	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_phentsize != sizeof(Elf64_Phdr) ||
	    head->e_phnum > CST_PLAN_MAX_SEGMENTS)
		return NULL;
	return at(r, head->e_phoff, head->e_phnum * sizeof(Elf64_Phdr));
}

/* Returns 0 if there is no such segment. */
static int add_frames(const struct raw *r, const Elf64_Phdr *segments, int n,
		      uint64_t *id)
{
	const Elf64_Phdr *frames = NULL;
	const uint8_t *bytes;

	for (int i = 0; i < n; i++)
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			frames = &segments[i];
	bytes = frames ? at(r, frames->p_offset, frames->p_filesz) : NULL;
	for (uint64_t i = 0; bytes && i < frames->p_filesz;
	     i += CST_PLAN_ID_BLOCK) {
		uint64_t left = frames->p_filesz - i;

		*id = cst_plan_id_more(
			*id, bytes + i,
			left < CST_PLAN_ID_BLOCK ? left : CST_PLAN_ID_BLOCK);
	}
	return bytes != NULL;
}

static void put_sum(const struct elf_file *f, char out[BUILD_ID_SIZE])
{
	struct raw r = {0};
	const Elf64_Ehdr *head;
	const Elf64_Phdr *segments;
	uint8_t name[CST_PLAN_ID_SIZE];
	uint64_t id;

	r.bytes = (const uint8_t *)elf_rawfile(f->elf, &r.size);
	head = r.bytes ? at(&r, 0, sizeof(*head)) : NULL;
	segments = segments_of(&r, head);
	if (!segments)
		return;
	id = cst_plan_id_more(0, head, sizeof(*head));
	id = cst_plan_id_more(id, segments, head->e_phnum * sizeof(*segments));
	if (!add_frames(&r, segments, head->e_phnum, &id))
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
