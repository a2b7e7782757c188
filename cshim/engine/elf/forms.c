/* SPDX-License-Identifier: MIT
 *
 * A resolver takes the addresses of what it chooses from.  One that calls by a
 * pointer asks the loader, as that of time() does for the kernel's own code.
 */
#include "elf/forms.h"
#include "elf/cfi.h"
#include "elf/dynsym.h"
#include "elf/insn.h"

#include <string.h>

enum { RESOLVER_BYTES = 4096 };

struct reading {
	struct symtab *table;
	const struct elf_file *file;
	struct cfi cfi;
};

/* What ISO C has under another name, which more programs call. */
static int is_old(const char *name)
{
	static const char *const names[] = {"bcmp", "index", "rindex"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

/* Returns whether the instruction is one that a resolver of this file's own
 * forms has. */
static int read_insn(struct reading *r, const char *name,
		     const struct insn *insn)
{
	const struct range *part;

	if (insn->kind == INSN_CALL_INDIRECT ||
	    insn->kind == INSN_JUMP_INDIRECT)
		return 0;
	part = insn->is_address ? cfi_part(&r->cfi, insn->data) : NULL;
	return !part || part->start != insn->data ||
	       !symtab_add(r->table, name, part->start, part->end,
			   name[0] != '_' && !is_old(name));
}

static int read_code(struct reading *r, const char *name, uint64_t at,
		     const uint8_t *code, uint64_t size)
{
	struct insn insn;

	for (uint64_t done = 0; done < size; done += insn.length)
		if (!insn_decode(&insn, code + done, size - done, at + done) ||
		    !read_insn(r, name, &insn))
			return 0;
	return 1;
}

static void read_resolver(struct reading *r, const char *name, uint64_t at)
{
	const struct range *part = cfi_part(&r->cfi, at);
	uint32_t n = r->table->n;
	uint8_t code[RESOLVER_BYTES];

	if (!part || part->end - at > sizeof(code) ||
	    !elf_file_bytes(r->file, at, code, part->end - at))
		return;
	if (!read_code(r, name, at, code, part->end - at))
		r->table->n = n;
}

void forms_init(struct symtab *t, const struct elf_file *f)
{
	struct reading r = {.table = t, .file = f};
	struct dynsym_entry e;
	struct dynsym d;

	*t = (struct symtab){0};
	cfi_init(&r.cfi, f->elf);
	dynsym_init(&d, f->elf);
	while (dynsym_next(&d, &e))
		if (GELF_ST_TYPE(e.symbol.st_info) == STT_GNU_IFUNC &&
		    e.symbol.st_shndx != SHN_UNDEF)
			read_resolver(&r, e.name, e.symbol.st_value);
	cfi_release(&r.cfi);
	symtab_order(t);
}
