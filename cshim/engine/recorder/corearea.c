/* SPDX-License-Identifier: MIT
 *
 * Finds the area among a core's segments by how it begins, and copies what the
 * core has of it.  Nothing in the core is believed: offsets are held against
 * the area's size, and what the file lacks stays empty.
 */
#include "recorder/corearea.h"
#include "cstrace/layout.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STEP = CST_CHUNK_SIZE };

static int elf_head(int fd, Elf64_Ehdr *head)
{
	return pread(fd, head, sizeof(*head), 0) == sizeof(*head) &&
	       !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 &&
	       head->e_type == ET_CORE &&
	       head->e_phentsize == sizeof(Elf64_Phdr);
}

int corearea_is(int fd)
{
	Elf64_Ehdr head;

	return elf_head(fd, &head);
}

/* How many segments there are: where they are too many for the head, the first
 * section tells. */
static uint32_t n_segments(int fd, const Elf64_Ehdr *head)
{
	Elf64_Shdr first;

	if (head->e_phnum != PN_XNUM)
		return head->e_phnum;
	return pread(fd, &first, sizeof(first), (off_t)head->e_shoff) ==
			       sizeof(first)
		       ? first.sh_info
		       : 0;
}

static int segment_at(int fd, const Elf64_Ehdr *head, uint32_t i,
		      Elf64_Phdr *out)
{
	off_t at = (off_t)(head->e_phoff + (uint64_t)i * sizeof(*out));

	return pread(fd, out, sizeof(*out), at) == sizeof(*out) &&
	       out->p_type == PT_LOAD;
}

static int begins_area(int fd, const Elf64_Phdr *p, struct cst_area *head)
{
	return p->p_filesz >= sizeof(*head) &&
	       pread(fd, head, sizeof(*head), (off_t)p->p_offset) ==
		       sizeof(*head) &&
	       head->magic == CST_AREA_MAGIC && head->size == CST_AREA_SIZE;
}

/* Copies the parts of a segment that are not empty; `to` is where it begins in
 * the area. */
static int copy_segment(int fd, const Elf64_Phdr *p, uint64_t to, int out)
{
	static const uint8_t empty[STEP];
	uint8_t data[STEP];

	for (uint64_t at = 0; at < p->p_filesz; at += STEP) {
		uint64_t n = p->p_filesz - at < STEP ? p->p_filesz - at : STEP;
		ssize_t got;

		if (to + at + n > CST_AREA_SIZE)
			break;
		got = pread(fd, data, n, (off_t)(p->p_offset + at));
		if (got <= 0) /* the core was cut short */
			break;
		if (memcmp(data, empty, (size_t)got) &&
		    pwrite(out, data, (size_t)got, (off_t)(to + at)) != got)
			return -1;
	}
	return 0;
}

static int copy_all(int fd, const Elf64_Ehdr *head, uint64_t base, int out)
{
	uint32_t n = n_segments(fd, head);
	Elf64_Phdr p;

	if (ftruncate(out, (off_t)CST_AREA_SIZE) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (segment_at(fd, head, i, &p) && p.p_vaddr >= base &&
		    p.p_vaddr - base < CST_AREA_SIZE &&
		    copy_segment(fd, &p, p.p_vaddr - base, out) < 0)
			return -1;
	return 0;
}

static int find(int fd, const Elf64_Ehdr *head, struct cst_area *area,
		uint64_t *base)
{
	uint32_t n = n_segments(fd, head);
	Elf64_Phdr p;

	for (uint32_t i = 0; i < n; i++) {
		if (!segment_at(fd, head, i, &p) || !begins_area(fd, &p, area))
			continue;
		*base = p.p_vaddr;
		return 1;
	}
	return 0;
}

int corearea_open(int fd, const char *path, struct cst_error *err)
{
	struct cst_area area;
	Elf64_Ehdr head;
	uint64_t base;
	int out;

	if (!elf_head(fd, &head) || !find(fd, &head, &area, &base))
		return cst_fail(CST_BAD_FILE, err,
				"the core '%.300s' has no calls in it: its "
				"program ran without CSTRACE_FLIGHT",
				path);
	if (!area.is_file)
		return cst_fail(CST_BAD_FILE, err,
				"gdb or cstrace record has recorded the "
				"program of the core '%.300s': the calls are "
				"in the trace that they wrote, not in the core",
				path);
	out = memfd_create("cstrace-core", MFD_CLOEXEC);
	if (out < 0)
		return cst_fail_sys(err, "cannot copy the core's calls");
	if (copy_all(fd, &head, base, out) < 0) {
		int status = cst_fail_sys(err, "cannot copy the core's calls");

		close(out);
		return status;
	}
	return out;
}
