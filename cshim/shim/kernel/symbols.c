/* SPDX-License-Identifier: MIT
 *
 * The file is read, not mapped: it may be cut meanwhile.  Among a table's
 * functions the last that begins at or before the address is the one.  Found
 * names are kept, for a callback may ask for the same again and again.
 */
#include <elf.h>
#include "kernel/symbols.h"
#include "kernel/arch.h"
#include "kernel/maps.h"
#include "kernel/syscall.h"

enum {
	KEPT = 256,
	BLOCK = 256, /* symbols read at once */
	MAX_SEGMENTS = 32,
	MAX_SECTIONS = 4096,
	SPINS = 100000,
};

struct kept {
	uint64_t address;
	struct symbol symbol;
};

/* Used by one thread at a time. */
static struct kept kept[KEPT];
static struct maps maps;
static Elf64_Sym block[BLOCK];
static uint32_t is_used;

static int use(void)
{
	for (int i = 0; i < SPINS; i++) {
		if (!__atomic_exchange_n(&is_used, 1, __ATOMIC_ACQUIRE))
			return 1;
		cpu_relax();
	}
	return 0;
}

static void unuse(void)
{
	__atomic_store_n(&is_used, 0, __ATOMIC_RELEASE);
}

static void copy(char *to, const char *from, uint32_t size)
{
	uint32_t i = 0;

	for (; i + 1 < size && from[i]; i++)
		to[i] = from[i];
	to[i] = 0;
}

/* ---- a file -----------------------------------------------------------------
 */

static int get(int fd, uint64_t at, void *out, uint64_t size)
{
	return sys_pread(fd, out, size, (long)at) == (long)size;
}

/* The address in the file's own terms; 0: it is in none of its segments. */
static uint64_t file_address(int fd, const Elf64_Ehdr *head, uint64_t offset)
{
	Elf64_Phdr segment;

	for (uint32_t i = 0; i < head->e_phnum && i < MAX_SEGMENTS; i++) {
		if (!get(fd, head->e_phoff + i * sizeof(segment), &segment,
			 sizeof(segment)))
			return 0;
		if (segment.p_type == PT_LOAD && offset >= segment.p_offset &&
		    offset - segment.p_offset < segment.p_filesz)
			return offset - segment.p_offset + segment.p_vaddr;
	}
	return 0;
}

static int find_section(int fd, const Elf64_Ehdr *head, uint32_t type,
			Elf64_Shdr *out)
{
	for (uint32_t i = 0; i < head->e_shnum && i < MAX_SECTIONS; i++)
		if (get(fd, head->e_shoff + i * sizeof(*out), out,
			sizeof(*out)) &&
		    out->sh_type == type)
			return 1;
	return 0;
}

static int is_better(const Elf64_Sym *s, const Elf64_Sym *best,
		     uint64_t address)
{
	uint32_t type = s->st_info & 15;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || !s->st_shndx ||
	    s->st_value > address)
		return 0;
	if (s->st_size && address - s->st_value >= s->st_size)
		return 0;
	return s->st_value >= best->st_value;
}

static int find_in(int fd, const Elf64_Ehdr *head, const Elf64_Shdr *table,
		   uint64_t address, struct symbol *out)
{
	uint64_t n = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Sym best = {.st_value = 0};
	Elf64_Shdr names;
	long got;

	for (uint64_t i = 0; i < n; i += BLOCK) {
		uint64_t m = n - i < BLOCK ? n - i : BLOCK;

		if (!get(fd, table->sh_offset + i * sizeof(*block), block,
			 m * sizeof(*block)))
			return 0;
		for (uint64_t k = 0; k < m; k++)
			if (is_better(&block[k], &best, address))
				best = block[k];
	}
	if (!best.st_value || table->sh_link >= head->e_shnum ||
	    !get(fd, head->e_shoff + table->sh_link * sizeof(names), &names,
		 sizeof(names)))
		return 0;
	got = sys_pread(fd, out->name, sizeof(out->name) - 1,
			(long)(names.sh_offset + best.st_name));
	out->name[got > 0 ? got : 0] = 0;
	out->offset = address - best.st_value;
	return out->name[0] != 0;
}

static int find_in_file(int fd, uint64_t offset, struct symbol *out)
{
	Elf64_Ehdr head;
	Elf64_Shdr table;
	uint64_t address;

	if (!get(fd, 0, &head, sizeof(head)) ||
	    *(const uint32_t *)head.e_ident != 0x464c457f ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(Elf64_Phdr) ||
	    head.e_shentsize != sizeof(Elf64_Shdr))
		return 0;
	address = file_address(fd, &head, offset);
	if (!address)
		return 0;
	return (find_section(fd, &head, SHT_SYMTAB, &table) &&
		find_in(fd, &head, &table, address, out)) ||
	       (find_section(fd, &head, SHT_DYNSYM, &table) &&
		find_in(fd, &head, &table, address, out));
}

/* ---- addresses --------------------------------------------------------------
 */

const char *symbols_base_name(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return base;
}

static void find(uint64_t address, struct symbol *out)
{
	struct maps_entry e = {.start = 0};
	const char *line;
	int fd, is_found = 0;

	if (maps_open(&maps) < 0)
		return;
	while (!is_found && (line = maps_next(&maps)))
		is_found = maps_parse(line, &e) &&
			   address - e.start < e.end - e.start;
	maps_close(&maps);
	if (!is_found || !e.inode)
		return;
	copy(out->module, symbols_base_name(e.path), sizeof(out->module));
	fd = sys_open(e.path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	find_in_file(fd, address - e.start + e.offset, out);
	sys_close(fd);
}

int symbols_find(uint64_t address, struct symbol *out)
{
	struct kept *k =
		&kept[address * 0x9e3779b97f4a7c15ull >> 56 & (KEPT - 1)];

	out->offset = 0;
	out->name[0] = out->module[0] = 0;
	if (!use())
		return 0;
	if (k->address != address) {
		find(address, out);
		k->symbol.offset = out->offset;
		copy(k->symbol.name, out->name, sizeof(out->name));
		copy(k->symbol.module, out->module, sizeof(out->module));
		k->address = address;
	} else {
		out->offset = k->symbol.offset;
		copy(out->name, k->symbol.name, sizeof(out->name));
		copy(out->module, k->symbol.module, sizeof(out->module));
	}
	unuse();
	return out->name[0] != 0;
}

void symbols_forget(void)
{
	if (!use())
		return;
	for (int i = 0; i < KEPT; i++)
		kept[i].address = 0;
	unuse();
}

/* ---- names of C++ -----------------------------------------------------------
 */

struct readable {
	char *out;
	uint32_t n, size;
	uint32_t last, n_last; /* the last part of it: a class's name */
};

static void add(struct readable *r, const char *text, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (r->n + 1 < r->size)
			r->out[r->n++] = text[i];
}

static void part(struct readable *r, const char *text, uint32_t n)
{
	if (r->n)
		add(r, "::", 2);
	r->last = r->n;
	r->n_last = n;
	if (n >= 11 && text[0] == '_' && text[1] == 'G' && text[2] == 'L')
		add(r, "(anonymous namespace)", 21);
	else
		add(r, text, n);
}

/* A constructor's or destructor's name is its class's. */
static void part_again(struct readable *r, const char *prefix)
{
	char name[SYMBOL_NAME_MAX];
	uint32_t n = 0;

	while (n < r->n_last && n < sizeof(name) && r->last + n < r->n) {
		name[n] = r->out[r->last + n];
		n++;
	}
	add(r, "::", 2);
	add(r, prefix, *prefix != 0);
	add(r, name, n);
}

/* "12some_name_of"; NULL: it is none. */
static const char *source_name(const char *s, struct readable *r)
{
	uint32_t n = 0;

	while (*s >= '0' && *s <= '9' && n < SYMBOL_NAME_MAX)
		n = n * 10 + (uint32_t)(*s++ - '0');
	for (uint32_t i = 0; i < n; i++)
		if (!s[i])
			return 0;
	if (!n)
		return 0;
	part(r, s, n);
	return s + n;
}

uint32_t symbols_demangle(const char *name, char *out, uint32_t size)
{
	struct readable r = {.out = out, .size = size};
	const char *s = name;
	int is_nested;

	if (!size || *s++ != '_' || *s++ != 'Z')
		return 0;
	if (*s == 'L')
		s++;
	is_nested = *s == 'N';
	if (is_nested)
		s++;
	while (*s == 'K' || *s == 'V' || *s == 'R' || *s == 'O')
		s++;
	if (s[0] == 'S' && s[1] == 't') {
		part(&r, "std", 3);
		s += 2;
	}
	do {
		if (s[0] == 'L')
			s++;
		if (r.n && s[0] == 'C' && s[1] >= '1' && s[1] <= '3') {
			part_again(&r, "");
			s += 2;
		} else if (r.n && s[0] == 'D' && s[1] >= '0' && s[1] <= '2') {
			part_again(&r, "~");
			s += 2;
		} else {
			s = source_name(s, &r);
		}
	} while (s && is_nested && *s != 'E');
	/* Templates and operators are left as they are. */
	if (!s || *s == 'I')
		return 0;
	out[r.n] = 0;
	return r.n;
}
