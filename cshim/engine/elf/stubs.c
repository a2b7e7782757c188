/* SPDX-License-Identifier: MIT
 *
 * A stub is an indirect jump, behind an endbr64 where the file has them.
 */
#include "elf/stubs.h"
#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
#include "base/text.h"
#include "elf/slots.h"

#include <stdlib.h>
#include <string.h>

enum { ENDBR_BYTES = 4 };

struct search {
	struct stubs *stubs;
	int failed;
};

int stubs_are_in(const char *section)
{
	return text_begins(section, ".plt") || text_begins(section, ".iplt");
}

/* ---- the words -------------------------------------------------------------
 */

static void see(void *arg, const GElf_Rela *r, const char *name)
{
	uint64_t type = GELF_R_TYPE(r->r_info);
	struct stub new = {.slot = r->r_offset};
	struct search *s = arg;

	if (type == R_X86_64_IRELATIVE)
		new.resolver = (uint64_t)r->r_addend;
	else if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
		 name && *name)
		new.name = name;
	else
		return;
	if (array_room(&s->stubs->all, &s->stubs->cap, s->stubs->n + 1ull))
		s->failed = 1;
	else
		s->stubs->all[s->stubs->n++] = new;
}

static int compare(const void *a, const void *b)
{
	const struct stub *x = a, *y = b;

	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static uint32_t index_of(const struct stubs *s, uint64_t slot)
{
	uint32_t i = search_while(k, s->n, s->all[k].slot < slot);

	return i < s->n && s->all[i].slot == slot ? i : s->n;
}

/* ---- the code --------------------------------------------------------------
 */

static int add_code(struct stubs *s, const struct insn *i, uint64_t at,
		    int has_endbr)
{
	uint32_t stub = i->is_slot ? index_of(s, i->data) : s->n;

	if (stub == s->n)
		return 0;
	if (array_room(&s->code, &s->cap_code, s->n_code + 1ull))
		return CST_MEMORY;
	s->code[s->n_code++] = (struct stub_code){
		.start = has_endbr ? at - ENDBR_BYTES : at,
		.jump = at,
		.end = at + i->length,
		.stub = stub,
	};
	return 0;
}

static int read_code(struct stubs *s, const Elf_Data *data, uint64_t addr)
{
	const uint8_t *bytes = data->d_buf;
	int status = 0, has_endbr = 0;
	struct insn i;

	for (uint64_t at = 0; at < data->d_size && !status; at += i.length) {
		if (!insn_decode(&i, bytes + at, data->d_size - at, addr + at))
			i = (struct insn){.length = 1};
		else if (i.kind == INSN_JUMP_INDIRECT)
			status = add_code(s, &i, addr + at, has_endbr);
		has_endbr =
			i.length == ENDBR_BYTES &&
			!memcmp(bytes + at, "\xf3\x0f\x1e\xfa", ENDBR_BYTES);
	}
	return status;
}

static int compare_code(const void *a, const void *b)
{
	const struct stub_code *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The next section of stubs; NULL: there are no more. */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name =
			gelf_getshdr(section, header)
				? elf_strptr(elf, names, header->sh_name)
				: NULL;

		if (name && stubs_are_in(name) &&
		    header->sh_flags & SHF_EXECINSTR &&
		    header->sh_type == SHT_PROGBITS)
			return section;
	}
	return NULL;
}

void stubs_extent(Elf *elf, uint64_t *start, uint64_t *end)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	*start = UINT64_MAX;
	*end = 0;
	while ((section = next_section(elf, section, &header))) {
		uint64_t behind = header.sh_addr + header.sh_size;

		*start = header.sh_addr < *start ? header.sh_addr : *start;
		*end = behind > *end ? behind : *end;
	}
}

static int read_sections(struct stubs *s, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int status = 0;

	while (!status && (section = next_section(elf, section, &header))) {
		Elf_Data *data = elf_getdata(section, NULL);

		if (data && data->d_buf)
			status = read_code(s, data, header.sh_addr);
	}
	if (s->n_code)
		qsort(s->code, s->n_code, sizeof(*s->code), compare_code);
	return status;
}

/* ---- all of it -------------------------------------------------------------
 */

int stubs_init(struct stubs *s, const struct elf_file *f)
{
	struct search search = {.stubs = s};

	*s = (struct stubs){0};
	slots_each(f->elf, see, &search);
	if (s->n)
		qsort(s->all, s->n, sizeof(*s->all), compare);
	return search.failed ? CST_MEMORY : read_sections(s, f->elf);
}

void stubs_release(struct stubs *s)
{
	free(s->all);
	free(s->code);
	*s = (struct stubs){0};
}

const struct stub_code *stubs_at(const struct stubs *s, uint64_t addr)
{
	uint32_t n = search_while(i, s->n_code, s->code[i].start <= addr);

	return n && addr < s->code[n - 1].end ? &s->code[n - 1] : NULL;
}

const struct stub *stubs_find(const struct stubs *s, const struct insn *jump)
{
	const struct stub_code *code;
	uint32_t i;

	if (jump->is_slot) {
		i = index_of(s, jump->data);
		return i < s->n ? &s->all[i] : NULL;
	}
	code = stubs_at(s, jump->target);
	return code && (jump->target == code->start ||
			jump->target == code->jump)
		       ? &s->all[code->stub]
		       : NULL;
}
