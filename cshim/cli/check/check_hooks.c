/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds where a file's code calls the two hooks: collects the addresses that
 * lead to them (symbols, PLT stubs, GOT slots) and scans the code for calls to
 * those; in object files the relocations show it.
 */
#include "check/check_hooks.h"
#include "base/array.h"
#include "base/ranges.h"
#include "base/search.h"

/* bfd.h demands the macro of a configured package. */
#define PACKAGE "cstrace"
#define PACKAGE_VERSION CST_VERSION
#include <bfd.h>

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

/* 0: entry, 1: exit, -1: none of the two.  A version or "@plt" may follow. */
static int hook_of(const char *name)
{
	static const char common[] = "__cyg_profile_func_";

	if (strncmp(name, common, sizeof(common) - 1) != 0)
		return -1;
	name += sizeof(common) - 1;
	if (!strncmp(name, "enter", 5) && (!name[5] || name[5] == '@'))
		return 0;
	if (!strncmp(name, "exit", 4) && (!name[4] || name[4] == '@'))
		return 1;
	return -1;
}

static void target_add(struct targets *t, uint64_t addr, int is_slot,
		       const char *name)
{
	int which = hook_of(name);

	/* In a static libc both are one empty function. */
	for (int i = 0; i < t->n && which >= 0; i++)
		if (t->all[i].addr == addr && t->all[i].is_slot == is_slot) {
			t->all[i].is_exit &= which;
			return;
		}
	if (which >= 0 && t->n < MAX_TARGETS)
		t->all[t->n++] = (struct target){addr, is_slot, which};
}

/* ---- by libbfd: where calls can lead ----------------------------------- */

static void add_defined(struct targets *t, asymbol *const *symbols, long n)
{
	for (long i = 0; i < n; i++)
		if (!bfd_is_und_section(bfd_asymbol_section(symbols[i])))
			target_add(t, bfd_asymbol_value(symbols[i]), 0,
				   bfd_asymbol_name(symbols[i]));
}

static void add_slots(struct targets *t, bfd *b, asymbol **dynamic)
{
	long size = bfd_get_dynamic_reloc_upper_bound(b);
	arelent **all = size > 0 ? malloc((size_t)size) : NULL;
	long n = all ? bfd_canonicalize_dynamic_reloc(b, all, dynamic) : 0;

	for (long i = 0; i < n; i++)
		if (all[i]->sym_ptr_ptr && *all[i]->sym_ptr_ptr)
			target_add(t, all[i]->address, 1,
				   bfd_asymbol_name(*all[i]->sym_ptr_ptr));
	free(all);
}

static void add_stubs(struct targets *t, bfd *b, asymbol **symbols, long n,
		      asymbol **dynamic, long n_dynamic)
{
	asymbol *made = NULL;
	long n_made = bfd_get_synthetic_symtab(b, n, symbols, n_dynamic,
					       dynamic, &made);

	for (long i = 0; i < n_made; i++)
		target_add(t, bfd_asymbol_value(&made[i]), 0,
			   bfd_asymbol_name(&made[i]));
	free(made);
}

static long symbols_read(bfd *b, long size, asymbol ***out,
			 long (*read)(bfd *b, asymbol **out))
{
	long n;

	*out = size > 0 ? malloc((size_t)size) : NULL;
	n = *out ? read(b, *out) : 0;
	return n > 0 ? n : 0;
}

static long read_symtab(bfd *b, asymbol **out)
{
	return bfd_canonicalize_symtab(b, out);
}

static long read_dynamic(bfd *b, asymbol **out)
{
	return bfd_canonicalize_dynamic_symtab(b, out);
}

static void be_silent(const char *format, va_list args)
{
	(void)format;
	(void)args;
}

static void targets_find(struct targets *t, const char *path)
{
	asymbol **symbols, **dynamic;
	long n, n_dynamic;
	bfd *b;

	bfd_init();
	bfd_set_error_handler(be_silent);
	b = bfd_openr(path, NULL);
	if (b && bfd_check_format(b, bfd_object)) {
		n = symbols_read(b, bfd_get_symtab_upper_bound(b), &symbols,
				 read_symtab);
		n_dynamic =
			symbols_read(b, bfd_get_dynamic_symtab_upper_bound(b),
				     &dynamic, read_dynamic);
		add_defined(t, symbols, n);
		add_defined(t, dynamic, n_dynamic);
		add_slots(t, b, dynamic);
		add_stubs(t, b, symbols, n, dynamic, n_dynamic);
		free(symbols);
		free(dynamic);
	}
	if (b)
		bfd_close(b);
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

static int scan_all(struct hook_sites *s, const struct check_file *f)
{
	struct targets t = {.n = 0};
	Elf_Scn *section = NULL;
	size_t names = 0;
	GElf_Shdr h;

	targets_find(&t, f->path);
	elf_getshdrstrndx(f->elf, &names);
	while (t.n && (section = elf_nextscn(f->elf, section))) {
		Elf_Data *data;
		const char *name;

		if (!gelf_getshdr(section, &h) || !is_code(&h))
			continue;
		/* The linker's stubs call nothing, they are called. */
		name = elf_strptr(f->elf, names, h.sh_name);
		if (name && !strncmp(name, ".plt", 4))
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf &&
		    !scan(s, &t, data->d_buf, data->d_size, h.sh_addr, f->bias))
			return 0;
	}
	return 1;
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
		if (name && hook_of(name) >= 0 &&
		    !site_add(s, base + r.r_offset - 1, hook_of(name)))
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
