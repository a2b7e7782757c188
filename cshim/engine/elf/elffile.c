/* SPDX-License-Identifier: MIT
 *
 * Sections are read, not mapped: a build that writes over a file while we
 * look into it must be an error to us, not a SIGBUS to gdb.  Only a file whose
 * debug information would weigh on gdb's memory is mapped after all, as gdb
 * itself does with all of them.
 */
#include "elf/elffile.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MAPPED_FROM_BYTES = 64 << 20 };

struct file_id file_id_of(const struct stat *st)
{
	return (struct file_id){
		.inode = st->st_ino,
		.size = (uint64_t)st->st_size,
		.time_ns = (uint64_t)st->st_mtim.tv_sec * 1000000000u +
			   (uint64_t)st->st_mtim.tv_nsec,
	};
}

int file_id_is_same(const struct file_id *a, const struct file_id *b)
{
	return a->inode == b->inode && a->size == b->size &&
	       a->time_ns == b->time_ns;
}

int elf_file_descriptor(const char *path)
{
	struct stat st;
	int fd;

	/* Opening a device can have effects, so look first. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

int elf_file_open(struct elf_file *f, int fd)
{
	struct stat st;

	*f = (struct elf_file){.fd = fd};
	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		return 0;
	if (!fstat(fd, &st))
		f->elf = elf_begin(fd,
				   st.st_size < MAPPED_FROM_BYTES
					   ? ELF_C_READ
					   : ELF_C_READ_MMAP,
				   NULL);
	if (f->elf && elf_kind(f->elf) == ELF_K_ELF)
		return 1;
	elf_file_close(f);
	return 0;
}

void elf_file_close(struct elf_file *f)
{
	elf_end(f->elf);
	f->elf = NULL;
	zsections_release(&f->unpacked);
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* The i-th program header, where it loads something. */
static int load_header(Elf *elf, size_t i, GElf_Phdr *out)
{
	return gelf_getphdr(elf, (int)i, out) && out->p_type == PT_LOAD;
}

/* Mappings begin and end at page borders, segments need not. */
static int loads_offset(const GElf_Phdr *p, uint64_t offset)
{
	uint64_t page = 4096;

	return offset >= (p->p_offset & ~(page - 1)) &&
	       offset < p->p_offset + p->p_filesz;
}

int elf_file_bias(const struct elf_file *f, uint64_t addr, uint64_t offset,
		  uint64_t *bias)
{
	int is_found = 0;
	size_t n = 0;

	if (elf_getphdrnum(f->elf, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!load_header(f->elf, i, &p) || !loads_offset(&p, offset))
			continue;
		/* A page can hold the end of one segment and the begin of the
		 * next: the executable one it is. */
		if (is_found && !(p.p_flags & PF_X))
			continue;
		*bias = addr - offset + p.p_offset - p.p_vaddr;
		is_found = 1;
		if (p.p_flags & PF_X)
			break;
	}
	return is_found;
}

int elf_file_bytes(const struct elf_file *f, uint64_t addr, void *out, size_t n)
{
	size_t n_headers = 0;

	if (elf_getphdrnum(f->elf, &n_headers))
		return 0;
	for (size_t i = 0; i < n_headers; i++) {
		GElf_Phdr p;

		if (load_header(f->elf, i, &p) && addr >= p.p_vaddr &&
		    addr - p.p_vaddr < p.p_filesz &&
		    n <= p.p_filesz - (addr - p.p_vaddr))
			return pread(f->fd, out, n,
				     (off_t)(addr - p.p_vaddr + p.p_offset)) ==
			       (ssize_t)n;
	}
	return 0;
}

uint64_t elf_file_base(const struct elf_file *f)
{
	uint64_t base = UINT64_MAX;
	size_t n = 0;

	if (elf_getphdrnum(f->elf, &n))
		return base;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (load_header(f->elf, i, &p) && p.p_vaddr < base)
			base = p.p_vaddr;
	}
	return base;
}

Elf_Scn *elf_file_section(Elf *elf, uint32_t type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

Elf_Scn *elf_file_section_named(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, header))
			continue;
		found = elf_strptr(elf, names, header->sh_name);
		if (found && !strcmp(found, name))
			return section;
	}
	return NULL;
}

int elf_file_has(const struct elf_file *f, const char *name)
{
	GElf_Shdr header;

	return elf_file_section_named(f->elf, name, &header) &&
	       header.sh_type != SHT_NOBITS;
}

/* The second name: packed as it was done before ELF had a flag for it. */
int elf_file_has_dwarf(const struct elf_file *f)
{
	return elf_file_has(f, ".debug_info") ||
	       elf_file_has(f, ".zdebug_info");
}
