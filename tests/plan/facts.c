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

/* ---- tables of offsets --------------------------------------------------- */

static void add_table(struct facts *f, const struct fact_table *t)
{
	if (!(f->n_tables & (f->n_tables + 1)))
		f->tables = realloc(f->tables,
				    (2 * f->n_tables + 2) * sizeof(*f->tables));
	if (!f->tables)
		abort();
	f->tables[f->n_tables++] = *t;
}

enum { REGISTERS = 16, MOST_WORDS = 1 << 20 };

/* What registers hold, as far as it is known, while code is read in a straight
 * line. */
struct flow {
	uint64_t address[REGISTERS]; /* an address of data; 0: something else */
	uint64_t sum[REGISTERS];     /* one, and a word of a table */
	uint64_t n_words[REGISTERS]; /* the word is one of so many; 0: any */
	int compared;		     /* the register that was, or -1 */
	uint64_t most;		     /* to that number */
	int is_limited;		     /* to what is not more */
};

static int number_of(ZydisRegister r)
{
	ZydisRegister whole =
		ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		       ? (int)(whole - ZYDIS_REGISTER_RAX)
		       : -1;
}

static int register_of(const struct decoded *d, int operand)
{
	return operand < d->is.operand_count_visible &&
			       d->of[operand].type ==
				       ZYDIS_OPERAND_TYPE_REGISTER
		       ? number_of(d->of[operand].reg.value)
		       : -1;
}

/* It becomes 32 bits of the same, or stays what it is. */
static int is_widened(const struct decoded *d, int reg)
{
	return (d->is.mnemonic == ZYDIS_MNEMONIC_MOV ||
		d->is.mnemonic == ZYDIS_MNEMONIC_MOVZX) &&
	       register_of(d, 0) == reg && register_of(d, 1) == reg;
}

static void forget_written(struct flow *w, const struct decoded *d)
{
	for (int i = 0; i < d->is.operand_count; i++) {
		int r = d->of[i].type == ZYDIS_OPERAND_TYPE_REGISTER
				? number_of(d->of[i].reg.value)
				: -1;

		if (r < 0 ||
		    !(d->of[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		w->address[r] = w->sum[r] = w->n_words[r] = 0;
		if (r == w->compared && !is_widened(d, r))
			w->compared = -1;
	}
}

static void see_bound(struct flow *w, const struct decoded *d)
{
	if (d->is.mnemonic == ZYDIS_MNEMONIC_JNBE)
		w->is_limited = 1;
	if (d->is.mnemonic != ZYDIS_MNEMONIC_CMP)
		return;
	w->is_limited = 0;
	w->compared = d->of[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
			      ? register_of(d, 0)
			      : -1;
	w->most = d->of[1].imm.value.u &
		  (UINT64_MAX >> (64 - d->is.operand_width));
}

/* Returns how many words there are, if it loads one of a table. */
static uint64_t words_of(const struct flow *w, const struct decoded *d)
{
	return d->is.mnemonic == ZYDIS_MNEMONIC_MOVSXD && w->is_limited &&
			       d->of[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			       w->compared >= 0 &&
			       number_of(d->of[1].mem.index) == w->compared
		       ? w->most + 1
		       : 0;
}

static void see_flow(struct facts *f, struct flow *w, const struct decoded *d,
		     uint64_t data)
{
	int to = register_of(d, 0), from = register_of(d, 1);
	uint64_t sum = 0, n_words = words_of(w, d);

	see_bound(w, d);
	if (d->is.mnemonic == ZYDIS_MNEMONIC_JMP && to >= 0 && w->sum[to])
		add_table(f,
			  &(struct fact_table){w->sum[to], 1, w->n_words[to]});
	if (d->is.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	    d->is.meta.category == ZYDIS_CATEGORY_CALL ||
	    d->is.meta.category == ZYDIS_CATEGORY_RET) {
		*w = (struct flow){.compared = -1};
		return;
	}
	if (d->is.mnemonic == ZYDIS_MNEMONIC_ADD && d->is.operand_width == 64 &&
	    to >= 0 && from >= 0) {
		sum = w->address[to] ? w->address[to] : w->address[from];
		n_words = w->n_words[to] + w->n_words[from];
	}
	forget_written(w, d);
	if (to < 0)
		return;
	w->sum[to] = sum;
	w->n_words[to] = n_words;
	if (d->is.mnemonic == ZYDIS_MNEMONIC_LEA)
		w->address[to] = data;
}

/* A table ends where another begins for certain, though not before the words
 * that its jump is limited to. */
static void see_table(struct facts *f, const struct fact_table *t, uint64_t end)
{
	int32_t offset;

	if (t->n_words < MOST_WORDS && end - t->start < 4 * t->n_words)
		end = t->start + 4 * t->n_words;
	for (uint64_t at = t->start; !(t->start % 4) && at < end; at += 4) {
		const uint8_t *bytes = facts_bytes(f, at, 4);

		if (!bytes)
			return;
		memcpy(&offset, bytes, 4);
		if (!is_code(f, t->start + (uint64_t)offset))
			return;
		mark(f, t->start + (uint64_t)offset, FACT_LISTED);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct fact_table *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

static void see_tables(struct facts *f)
{
	uint64_t start = UINT64_MAX, next = UINT64_MAX, end = UINT64_MAX;

	if (f->n_tables)
		qsort(f->tables, f->n_tables, sizeof(*f->tables), by_start);
	for (uint32_t i = f->n_tables; i-- > 0;) {
		const struct fact_table *t = &f->tables[i];

		if (t->start != start)
			end = next;
		start = t->start;
		if (t->is_certain)
			next = start;
		see_table(f, t, end);
	}
}

/* ---- instructions in a row ----------------------------------------------- */

static void see(struct facts *f, struct flow *w, const struct decoded *d,
		uint64_t addr)
{
	uint64_t data = data_of(d, addr);

	see_flow(f, w, d, data);
	mark(f, target_of(d, addr), FACT_TARGET);
	if (d->is.meta.category == ZYDIS_CATEGORY_CALL)
		mark(f, addr + d->is.length, FACT_RETURN);
	if (is_code(f, data))
		mark(f, data, FACT_TARGET);
	else if (data && d->is.mnemonic == ZYDIS_MNEMONIC_LEA)
		add_table(f, &(struct fact_table){.start = data});
}

static void sweep(struct facts *f, struct flow *w, uint64_t addr, uint64_t end)
{
	struct decoded d;
	unsigned n;

	for (; addr < end; addr += n) {
		const uint8_t *bytes = facts_bytes(f, addr, end - addr);

		n = decode(&d, bytes, end - addr);
		if (!n)
			return;
		mark(f, addr, FACT_CODE);
		see(f, w, &d, addr);
	}
}

static void sweep_frames(struct facts *f)
{
	uint64_t addr = f->start;
	struct flow w = {.compared = -1};

	while (addr < f->end) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Addr start = 0, end = 0;

		if (!dwarf_cfi_addrframe(f->frames, addr, &frame)) {
			dwarf_frame_info(frame, &start, &end, NULL);
			free(frame);
		}
		/* libdw tells the range of one row: the next begins behind. */
		if (end <= addr) {
			w = (struct flow){.compared = -1};
			addr++;
			continue;
		}
		sweep(f, &w, addr, end);
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

static int is_integer(Dwarf_Die *type)
{
	Dwarf_Attribute a;
	Dwarf_Word encoding = 0;
	Dwarf_Die whole;

	if (dwarf_peel_type(type, &whole))
		return 0;
	dwarf_formudata(dwarf_attr(&whole, DW_AT_encoding, &a), &encoding);
	return dwarf_tag(&whole) == DW_TAG_base_type
		       ? encoding == DW_ATE_boolean ||
				 (encoding >= DW_ATE_signed &&
				  encoding <= DW_ATE_unsigned_char)
		       : dwarf_tag(&whole) == DW_TAG_enumeration_type ||
				 dwarf_tag(&whole) == DW_TAG_pointer_type ||
				 dwarf_tag(&whole) == DW_TAG_reference_type ||
				 dwarf_tag(&whole) ==
					 DW_TAG_rvalue_reference_type;
}

static void mark_begins(struct facts *f, Dwarf_Die *function)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(function, at, &base, &start, &end)) > 0)
		mark(f, start, FACT_FLOATS);
}

/* Goes through all that is in the debug information. */
static void see_parameters(struct facts *f, Dwarf_Die *parent)
{
	Dwarf_Die die, type;
	Dwarf_Attribute a;

	if (dwarf_child(parent, &die))
		return;
	do {
		if (dwarf_tag(&die) == DW_TAG_formal_parameter &&
		    !(dwarf_formref_die(
			      dwarf_attr_integrate(&die, DW_AT_type, &a),
			      &type) &&
		      is_integer(&type)))
			mark_begins(f, parent);
		see_parameters(f, &die);
	} while (!dwarf_siblingof(&die, &die));
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
		else
			see_parameters(f, &unit);
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
	see_tables(f);
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
	free(f->tables);
	free(f->marks);
	close(f->fd);
}
