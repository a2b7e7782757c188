/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds where a file's code calls the two hooks: collects the addresses that
 * lead to them (symbols, PLT stubs, GOT slots), and scans the code for calls to
 * those; in object files the relocations show it.
 */
#include "check/check_hooks.h"
#include "base/array.h"
#include "base/search.h"
#include "base/text.h"
#include "elf/hook_slots.h"

#include <stdlib.h>
#include <string.h>

/* An address that a call of a hook leads to (a function, a stub of the linker)
 * or the word of memory that it goes through. */
struct target {
	uint64_t addr;
	int is_slot, is_exit;
};

enum { MAX_TARGETS = 64 };

struct targets {
	struct target all[MAX_TARGETS];
	int n;
};

static void target_add(struct targets *t, uint64_t addr, int is_slot,
		       int is_exit)
{
	/* In a static libc both are one empty function. */
	for (int i = 0; i < t->n; i++)
		if (t->all[i].addr == addr && t->all[i].is_slot == is_slot) {
			t->all[i].is_exit &= is_exit;
			return;
		}
	if (t->n < MAX_TARGETS)
		t->all[t->n++] = (struct target){addr, is_slot, is_exit};
}

/* ---- where calls can lead ---------------------------------------------- */

static void add_slots(struct targets *t, Elf *elf)
{
	struct cst_hook_slot slots[MAX_TARGETS];
	uint32_t n = hook_slots_find(elf, slots, MAX_TARGETS);

	for (uint32_t i = 0; i < n && i < MAX_TARGETS; i++)
		target_add(t, slots[i].address, 1, (int)slots[i].is_exit);
}

static void add_defined(struct targets *t, const struct check_file *f)
{
	for (int i = 0; i < f->n_symbols; i++) {
		struct check_symbol s;
		int hook = check_file_symbol(f, i, &s) && s.is_defined
				   ? hook_of_name(s.name)
				   : 0;

		if (hook)
			target_add(t, s.addr - f->bias, 0, hook == 2);
	}
}

/* Finds the linker's stubs, `jmp *slot(%rip)`; before that may be a prefix and
 * an endbr64. */
static void add_stubs(struct targets *t, const uint8_t *code, size_t size,
		      uint64_t addr)
{
	int n_slots = t->n;

	for (size_t i = 0; i + 6 <= size; i++) {
		size_t start = i;
		int32_t distance;

		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&distance, code + i + 2, 4);
		if (start && code[start - 1] == 0xf2) /* bnd */
			start--;
		if (start >= 4 &&
		    !memcmp(code + start - 4, "\xf3\x0f\x1e\xfa", 4))
			start -= 4;
		for (int k = 0; k < n_slots; k++)
			if (t->all[k].is_slot &&
			    t->all[k].addr ==
				    addr + i + 6 + (uint64_t)(int64_t)distance)
				target_add(t, addr + start, 0,
					   t->all[k].is_exit);
	}
}

/* ---- the code ---------------------------------------------------------- */

static int site_add(struct hook_sites *s, uint64_t addr, int is_exit)
{
	if (array_room(&s->all, &s->capacity, s->n + 1ull) < 0)
		return 0;
	s->all[s->n++] = (struct hook_site){addr, is_exit};
	s->n_enter += !is_exit;
	return 1;
}

/* `call rel32`, `jmp rel32`, and both through a word: how long the instruction
 * is, or 0. */
static int call_size(const unsigned char *code, size_t room, int *is_slot)
{
	*is_slot = 0;
	if (room >= 5 && (code[0] == 0xe8 || code[0] == 0xe9))
		return 5;
	*is_slot = 1;
	return room >= 6 && code[0] == 0xff &&
			       (code[1] == 0x15 || code[1] == 0x25)
		       ? 6
		       : 0;
}

static int scan(struct hook_sites *s, const struct targets *t,
		const unsigned char *code, size_t size, uint64_t addr,
		uint64_t bias)
{
	for (size_t i = 0; i < size; i++) {
		int is_slot, length = call_size(code + i, size - i, &is_slot);
		int32_t distance;
		uint64_t to;

		if (!length)
			continue;
		memcpy(&distance, code + i + length - 4, 4);
		to = addr + i + (uint64_t)length + (uint64_t)(int64_t)distance;
		for (int k = 0; k < t->n; k++) {
			if (t->all[k].addr != to ||
			    t->all[k].is_slot != is_slot)
				continue;
			if (!site_add(s, addr + i + bias, t->all[k].is_exit))
				return 0;
			break;
		}
	}
	return 1;
}

static int is_code(const GElf_Shdr *h)
{
	return h->sh_type == SHT_PROGBITS && (h->sh_flags & SHF_EXECINSTR);
}

/* Scans the sections of code, or the linker's stubs among them, which call
 * nothing, but are called. */
static int scan_sections(struct hook_sites *s, struct targets *t,
			 const struct check_file *f, int is_stubs)
{
	Elf_Scn *section = NULL;
	size_t names = 0;
	GElf_Shdr h;

	elf_getshdrstrndx(f->elf, &names);
	while (t->n && (section = elf_nextscn(f->elf, section))) {
		Elf_Data *data;
		const char *name;

		if (!gelf_getshdr(section, &h) || !is_code(&h))
			continue;
		name = elf_strptr(f->elf, names, h.sh_name);
		data = elf_rawdata(section, NULL);
		if (!data || !data->d_buf ||
		    is_stubs != (name && text_begins(name, ".plt")))
			continue;
		if (is_stubs)
			add_stubs(t, data->d_buf, data->d_size, h.sh_addr);
		else if (!scan(s, t, data->d_buf, data->d_size, h.sh_addr,
			       f->bias))
			return 0;
	}
	return 1;
}

static int scan_all(struct hook_sites *s, const struct check_file *f)
{
	struct targets t = {.n = 0};

	add_slots(&t, f->elf);
	add_defined(&t, f);
	return scan_sections(s, &t, f, 1) && scan_sections(s, &t, f, 0);
}

/* ---- object files: a relocation for each call -------------------------- */

static int relocated(struct hook_sites *s, const struct check_file *f,
		     Elf_Scn *section, const GElf_Shdr *h, uint64_t base)
{
	GElf_Shdr symbols_header;
	Elf_Scn *symbols_section = elf_getscn(f->elf, h->sh_link);
	Elf_Data *symbols =
		symbols_section ? elf_getdata(symbols_section, NULL) : NULL;
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Rela r;

	if (!symbols || !gelf_getshdr(symbols_section, &symbols_header))
		return 1;
	for (int i = 0; data && gelf_getrela(data, i, &r); i++) {
		const char *name = NULL;
		GElf_Sym symbol;

		if (gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &symbol))
			name = elf_strptr(f->elf, symbols_header.sh_link,
					  symbol.st_name);
		if (hook_of_name(name) && !site_add(s, base + r.r_offset - 1,
						    hook_of_name(name) == 2))
			return 0;
	}
	return 1;
}

static int relocations(struct hook_sites *s, const struct check_file *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h, code;

	while ((section = elf_nextscn(f->elf, section))) {
		Elf_Scn *of;

		if (!gelf_getshdr(section, &h) || h.sh_type != SHT_RELA)
			continue;
		of = elf_getscn(f->elf, h.sh_info);
		if (of && gelf_getshdr(of, &code) && is_code(&code) &&
		    !relocated(s, f, section, &h, code.sh_addr + f->bias))
			return 0;
	}
	return 1;
}

static int compare_sites(const void *a, const void *b)
{
	const struct hook_site *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

int hook_sites_init(struct hook_sites *s, const struct check_file *f)
{
	int is_done;

	*s = (struct hook_sites){0};
	is_done = f->kind == FILE_OBJECT ? relocations(s, f) : scan_all(s, f);
	if (s->n)
		qsort(s->all, s->n, sizeof(*s->all), compare_sites);
	return is_done;
}

void hook_sites_release(struct hook_sites *s)
{
	free(s->all);
	*s = (struct hook_sites){0};
}

uint32_t hook_sites_from(const struct hook_sites *s, uint64_t addr)
{
	return search_while(i, s->n, s->all[i].addr < addr);
}
