/* SPDX-License-Identifier: MIT
 *
 * An open ELF file: which file it is, where it is loaded, and which separate
 * debug file belongs to it.
 */
#ifndef ENGINE_ELFFILE_H
#define ENGINE_ELFFILE_H

#include "cstrace/engine.h"
#include "elf/zsections.h"

#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <sys/stat.h>

/* Tells a file from what is written to its path later. */
struct file_id {
	uint64_t inode, size, time_ns;
};

struct file_id file_id_of(const struct stat *st);
int file_id_is_same(const struct file_id *a, const struct file_id *b);

struct elf_file {
	int fd;
	Elf *elf;
	struct zsections unpacked;
};

/* Open the regular file at path; -1: it is none, or cannot be opened.  Never
 * blocks on a device or pipe. */
int elf_file_descriptor(const char *path);

/* Takes fd over, also on failure.  0: not an ELF file. */
int elf_file_open(struct elf_file *f, int fd);
void elf_file_close(struct elf_file *f);

/* What is added to the file's addresses when its file offset is executable
 * at addr in a process.  0: no segment is loaded from there. */
int elf_file_bias(const struct elf_file *f, uint64_t addr, uint64_t offset,
		  uint64_t *bias);

/* n bytes of it, as they are loaded at addr.  0: they are not in the file. */
int elf_file_bytes(const struct elf_file *f, uint64_t addr, void *out,
		   size_t n);

/* Its lowest loaded address, UINT64_MAX when nothing is. */
uint64_t elf_file_base(const struct elf_file *f);

/* The first section of that type; NULL: none. */
Elf_Scn *elf_file_section(Elf *elf, uint32_t type, GElf_Shdr *header);
Elf_Scn *elf_file_section_named(Elf *elf, const char *name, GElf_Shdr *header);

/* Has it a section of that name, with contents? */
int elf_file_has(const struct elf_file *f, const char *name);
/* Is its debug information DWARF? */
int elf_file_has_dwarf(const struct elf_file *f);

#endif
