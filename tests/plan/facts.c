/* SPDX-License-Identifier: MIT
 *
 * Sweeps over what FDEs describe.
 */
#include "facts.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const uint8_t *facts_bytes(const struct facts *f, uint64_t addr, uint64_t n)
{
	GElf_Phdr p;

	for (int i = 0; gelf_getphdr(f->elf, i, &p); i++)
		if (p.p_type == PT_LOAD && addr >= p.p_vaddr &&
		    addr - p.p_vaddr < p.p_filesz &&
		    n <= p.p_filesz - (addr - p.p_vaddr) &&
		    p.p_offset + p.p_filesz <= f->file_size)
			return f->file + p.p_offset + (addr - p.p_vaddr);
	return NULL;
}

uint8_t facts_at(const struct facts *f, uint64_t addr)
{
	return addr >= f->start && addr < f->end ? f->marks[addr - f->start]
						 : 0;
}

static void mark(struct facts *f, uint64_t addr, uint8_t fact)
{
	if (addr >= f->start && addr < f->end)
		f->marks[addr - f->start] |= fact;
}

/* ---- instructions -------------------------------------------------------- */

unsigned decode(struct decoded *d, const uint8_t *bytes, uint64_t n)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	if (!bytes || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n,
							   &d->is, d->of)))
		return 0;
	return d->is.length;
}

uint64_t target_of(const struct decoded *d, uint64_t addr)
{
	uint64_t target = 0;

	for (int i = 0; i < d->is.operand_count; i++)
		if (d->of[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		    d->of[i].imm.is_relative)
			ZydisCalcAbsoluteAddress(&d->is, &d->of[i], addr,
						 &target);
	return target;
}

uint64_t data_of(const struct decoded *d, uint64_t addr)
{
	uint64_t data = 0;

	for (int i = 0; i < d->is.operand_count; i++)
		if (d->of[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    d->of[i].mem.base == ZYDIS_REGISTER_RIP)
			ZydisCalcAbsoluteAddress(&d->is, &d->of[i], addr,
						 &data);
	return data;
}

/* ---- code ---------------------------------------------------------------- */

/* Is it in a section of functions, and not in one of the linker's stubs? */
static int is_code(const struct facts *f, uint64_t addr)
{
	return addr >= f->start && addr < f->end &&
	       !(f->marks[addr - f->start] & FACT_STUB);
}

/* The linker's stubs, and what is in no section. */
static void mark_stubs(struct facts *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;
	size_t names = 0;

	memset(f->marks, FACT_STUB, f->end - f->start);
	elf_getshdrstrndx(f->elf, &names);
	while ((section = elf_nextscn(f->elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &h) ||
		    !(h.sh_flags & SHF_EXECINSTR) || h.sh_addr < f->start ||
		    h.sh_addr + h.sh_size > f->end)
			continue;
		name = elf_strptr(f->elf, names, h.sh_name);
		if (name && strncmp(name, ".plt", 4) && strcmp(name, ".init") &&
		    strcmp(name, ".fini"))
			memset(f->marks + (h.sh_addr - f->start), 0, h.sh_size);
	}
}

static void see_table(struct facts *f, uint64_t table)
{
	int32_t offset;

	for (uint64_t at = table; !(table % 4); at += 4) {
		const uint8_t *bytes = facts_bytes(f, at, 4);

		if (!bytes)
			return;
		memcpy(&offset, bytes, 4);
		if (!is_code(f, table + (uint64_t)offset))
			return;
		mark(f, table + (uint64_t)offset, FACT_LISTED);
	}
}

static void see(struct facts *f, const struct decoded *d, uint64_t addr)
{
	uint64_t data = data_of(d, addr);

	mark(f, target_of(d, addr), FACT_TARGET);
	if (d->is.meta.category == ZYDIS_CATEGORY_CALL)
		mark(f, addr + d->is.length, FACT_RETURN);
	if (is_code(f, data))
		mark(f, data, FACT_TARGET);
	else if (data && d->is.mnemonic == ZYDIS_MNEMONIC_LEA)
		see_table(f, data);
}

static void sweep(struct facts *f, uint64_t addr, uint64_t end)
{
	struct decoded d;
	unsigned n;

	for (; addr < end; addr += n) {
		const uint8_t *bytes = facts_bytes(f, addr, end - addr);

		n = decode(&d, bytes, end - addr);
		if (!n)
			return;
		mark(f, addr, FACT_CODE);
		see(f, &d, addr);
	}
}

static void sweep_frames(struct facts *f)
{
	uint64_t addr = f->start;

	while (addr < f->end) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Addr start = 0, end = 0;

		if (!dwarf_cfi_addrframe(f->frames, addr, &frame)) {
			dwarf_frame_info(frame, &start, &end, NULL);
			free(frame);
		}
		/* libdw tells the range of one row: the next begins behind. */
		if (end <= addr) {
			addr++;
			continue;
		}
		sweep(f, addr, end);
		addr = end;
	}
}

/* ---- data ---------------------------------------------------------------- */

static void see_relocations(struct facts *f, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Rela r;

	for (int i = 0; data && gelf_getrela(data, i, &r); i++)
		if (GELF_R_TYPE(r.r_info) == R_X86_64_RELATIVE ||
		    GELF_R_TYPE(r.r_info) == R_X86_64_IRELATIVE)
			mark(f, (uint64_t)r.r_addend, FACT_TARGET);
}

static void see_words(struct facts *f, const GElf_Shdr *h)
{
	for (uint64_t i = 0; i + 8 <= h->sh_size; i += 8) {
		const uint8_t *at = facts_bytes(f, h->sh_addr + i, 8);
		uint64_t word = 0;

		if (at)
			memcpy(&word, at, 8);
		mark(f, word, FACT_TARGET);
	}
}

static void see_sections(struct facts *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;

	while ((section = elf_nextscn(f->elf, section))) {
		if (!gelf_getshdr(section, &h) || !(h.sh_flags & SHF_ALLOC))
			continue;
		if (h.sh_type == SHT_RELA)
			see_relocations(f, section);
		if (f->is_fixed && h.sh_type == SHT_PROGBITS &&
		    h.sh_flags & SHF_WRITE)
			see_words(f, &h);
	}
}

static void see_rows(struct facts *f, Elf *elf)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_Off at = 0, next;
	size_t head;

	while (dwarf && !dwarf_nextcu(dwarf, at, &next, &head, 0, 0, 0)) {
		Dwarf_Lines *lines;
		Dwarf_Die unit;
		size_t n = 0;

		if (!dwarf_offdie(dwarf, at + head, &unit) ||
		    dwarf_getsrclines(&unit, &lines, &n))
			n = 0;
		for (size_t i = 0; i < n; i++) {
			Dwarf_Line *line = dwarf_onesrcline(lines, i);
			bool is_stmt = false, is_end = false;
			Dwarf_Addr addr = 0;
			int number = 0;

			dwarf_lineaddr(line, &addr);
			dwarf_linebeginstatement(line, &is_stmt);
			dwarf_lineendsequence(line, &is_end);
			dwarf_lineno(line, &number);
			if (is_stmt && !is_end && number)
				mark(f, addr, FACT_ROW);
		}
		at = next;
	}
	dwarf_end(dwarf);
}

/* The rows of the debug file that the distribution has apart. */
static void see_rows_apart(struct facts *f)
{
	char path[256] = "/usr/lib/debug/.build-id/";
	size_t n = strlen(path);
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(f->elf, &id);
	Elf *elf;
	int fd;

	for (ssize_t i = 0; i < size && n + 16 < sizeof(path); i++)
		n += (size_t)sprintf(path + n, i ? "%02x" : "%02x/",
				     ((const uint8_t *)id)[i]);
	strcpy(path + n, ".debug");
	fd = open(path, O_RDONLY);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		see_rows(f, elf);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

/* Is it the inside of an instruction of a compiler's, whose code has no data
 * between?  Lines that begin with instructions tell a compiler's. */
static int is_inside(const struct facts *f, uint64_t addr)
{
	uint64_t at = addr;

	if (facts_at(f, addr) & FACT_CODE)
		return 0;
	while (at > f->start && !(facts_at(f, at) & FACT_STUB) &&
	       !(facts_at(f, at) & FACT_ROW))
		at--;
	return facts_at(f, at) & FACT_ROW && facts_at(f, at) & FACT_CODE;
}

static void see_listed(struct facts *f)
{
	for (uint64_t addr = f->start; addr < f->end; addr++)
		if (facts_at(f, addr) & FACT_LISTED && !is_inside(f, addr))
			mark(f, addr, FACT_TARGET);
}

/* ---- the file ------------------------------------------------------------ */

static int measure(struct facts *f)
{
	GElf_Phdr p;

	f->start = UINT64_MAX;
	for (int i = 0; gelf_getphdr(f->elf, i, &p); i++) {
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		if (p.p_vaddr < f->start)
			f->start = p.p_vaddr;
		if (p.p_vaddr + p.p_filesz > f->end)
			f->end = p.p_vaddr + p.p_filesz;
	}
	if (f->end <= f->start)
		return 0;
	f->marks = calloc(f->end - f->start, 1);
	return f->marks != NULL;
}

int facts_init(struct facts *f, const char *path)
{
	GElf_Ehdr header;
	struct stat st;

	elf_version(EV_CURRENT);
	*f = (struct facts){.fd = open(path, O_RDONLY)};
	if (f->fd < 0 || fstat(f->fd, &st))
		return 0;
	f->file_size = (uint64_t)st.st_size;
	f->file = mmap(NULL, f->file_size, PROT_READ, MAP_PRIVATE, f->fd, 0);
	f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	if (f->file == MAP_FAILED || !gelf_getehdr(f->elf, &header) ||
	    !measure(f))
		return 0;
	f->is_fixed = header.e_type == ET_EXEC;
	f->frames = dwarf_getcfi_elf(f->elf);
	if (!f->frames)
		return 0;
	mark_stubs(f);
	sweep_frames(f);
	see_sections(f);
	see_rows(f, f->elf);
	see_rows_apart(f);
	see_listed(f);
	return 1;
}

void facts_release(struct facts *f)
{
	dwarf_cfi_end(f->frames);
	elf_end(f->elf);
	if (f->file && f->file != MAP_FAILED)
		munmap((void *)f->file, f->file_size);
	free(f->marks);
	close(f->fd);
}
