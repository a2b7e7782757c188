/* SPDX-License-Identifier: MIT
 *
 * A range's value packs what decides between symbols of one address, and the
 * source file that a local symbol is of (the number of its STT_FILE).
 */
#include "elf/symtab.h"
#include "base/array.h"
#include "base/search.h"
#include "elf/elffile.h"

#include <stdlib.h>
#include <string.h>

enum {
	RANK_MASK = 3, /* 0 local, 1 weak, 2 global */
	IS_SIZED = 4,
	IS_OWNED = 8,	/* its name was copied to cut a version off */
	IS_HIDDEN = 16, /* local, but the only one of its name */
	IS_PUBLIC = 32, /* exported by a name that is no library's own */
	PREFERENCE_MASK = IS_PUBLIC | IS_SIZED | RANK_MASK,
	FILE_SHIFT = 6,
};

int symtab_is_unsized(const struct symtab_entry *e)
{
	return !(e->range.value & IS_SIZED);
}

static uint32_t rank_of(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_LOCAL:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

/* Linkers make local what files shared and others may not see: of hidden
 * visibility, or behind the name of no source file. */
static uint32_t hidden_of(const GElf_Sym *sym, int is_file_named)
{
	int visibility = GELF_ST_VISIBILITY(sym->st_other);

	return visibility == STV_HIDDEN || visibility == STV_INTERNAL ||
			       !is_file_named
		       ? IS_HIDDEN
		       : 0;
}

/* "malloc", not "__libc_malloc", which is the same function; C++ has mangled
 * names. */
static uint32_t public_of(const GElf_Sym *sym, const char *name)
{
	return rank_of(sym) && (name[0] != '_' || name[1] == 'Z') ? IS_PUBLIC
								  : 0;
}

static int is_defined(const GElf_Sym *sym)
{
	return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS;
}

static int is_function(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && is_defined(sym);
}

static int is_data(const GElf_Sym *sym)
{
	return GELF_ST_TYPE(sym->st_info) == STT_OBJECT && sym->st_size &&
	       is_defined(sym);
}

/* Orders by address; among equals the best comes last: it is then the
 * innermost. */
static int entry_compare(const void *a, const void *b)
{
	const struct symtab_entry *x = a, *y = b;
	uint32_t p = x->range.value & PREFERENCE_MASK;
	uint32_t q = y->range.value & PREFERENCE_MASK;

	if (x->range.start != y->range.start)
		return x->range.start < y->range.start ? -1 : 1;
	if (p != q)
		return p < q ? -1 : 1;
	/* "free" is better than "cfree". */
	if (strlen(x->name) != strlen(y->name))
		return strlen(x->name) < strlen(y->name) ? 1 : -1;
	return strcmp(y->name, x->name);
}

/* Where a symbol with no size must end at the latest. */
static uint64_t section_end(Elf *elf, uint32_t index)
{
	GElf_Shdr header;
	Elf_Scn *section =
		index < SHN_LORESERVE ? elf_getscn(elf, index) : NULL;

	if (!section || !gelf_getshdr(section, &header))
		return UINT64_MAX;
	return header.sh_addr + header.sh_size;
}

/* "foo@@VERSION": without its version. */
static const char *unversioned(const char *name, uint32_t *flags)
{
	const char *mark = strchr(name, '@');
	char *copy;

	if (!mark || mark == name)
		return name;
	copy = strndup(name, (size_t)(mark - name));
	if (!copy)
		return name;
	*flags |= IS_OWNED;
	return copy;
}

static int add(struct symtab *t, Elf *elf, const GElf_Sym *sym,
	       const char *name, uint32_t origin, uint64_t shift)
{
	uint32_t flags = origin | rank_of(sym) | public_of(sym, name) |
			 (sym->st_size ? IS_SIZED : 0);
	struct symtab_entry *e;
	uint64_t end;

	if (array_room(&t->entries, &t->capacity, t->n + 1ull) < 0)
		return 0;
	end = sym->st_size ? sym->st_value + sym->st_size
			   : section_end(elf, sym->st_shndx);
	if (end <= sym->st_value || !*name)
		return 1;
	e = &t->entries[t->n++];
	e->name = unversioned(name, &flags);
	e->range.start = sym->st_value + shift;
	e->range.end = end == UINT64_MAX ? end : end + shift;
	e->range.value = flags;
	return 1;
}

/* A symbol without a size reaches to the next address that has one. */
static void end_unsized(struct symtab *t)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = t->n; i-- > 0;) {
		struct range *r = &t->entries[i].range;

		if (i + 1 < t->n && t->entries[i + 1].range.start != r->start)
			next = t->entries[i + 1].range.start;
		if (!(r->value & IS_SIZED) && r->end > next)
			r->end = next;
	}
}

/* The section's strings, which end in a NUL or are not used at all. */
static Elf_Data *strings_of(Elf *elf, const GElf_Shdr *header)
{
	Elf_Scn *section = elf_getscn(elf, header->sh_link);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	if (!data || !data->d_buf || !data->d_size ||
	    ((const char *)data->d_buf)[data->d_size - 1])
		return NULL;
	return data;
}

typedef int wants_fn(const GElf_Sym *sym);

static int add_all(struct symtab *t, Elf *elf, Elf_Data *symbols,
		   const Elf_Data *strings, uint64_t shift, wants_fn *is_wanted)
{
	uint32_t file = 0;
	int is_file_named = 1;
	GElf_Sym sym;

	for (int i = 1; gelf_getsym(symbols, i, &sym); i++) {
		const char *name = (const char *)strings->d_buf + sym.st_name;

		if (sym.st_name >= strings->d_size)
			continue;
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE) {
			file++;
			is_file_named = *name != '\0';
		}
		if (!is_wanted(&sym))
			continue;
		if (!add(t, elf, &sym, name,
			 file << FILE_SHIFT | hidden_of(&sym, is_file_named),
			 shift))
			return 0;
	}
	return 1;
}

int symtab_add(struct symtab *t, const char *name, uint64_t start, uint64_t end,
	       int is_preferred)
{
	struct symtab_entry *e;

	if (array_room(&t->entries, &t->capacity, t->n + 1ull) < 0)
		return CST_MEMORY;
	e = &t->entries[t->n++];
	e->name = name;
	e->range = (struct range){
		.start = start,
		.end = end,
		.value = IS_SIZED | (is_preferred ? IS_PUBLIC : 0),
	};
	return 0;
}

void symtab_order(struct symtab *t)
{
	if (t->n)
		qsort(t->entries, t->n, sizeof(*t->entries), entry_compare);
	end_unsized(t);
	ranges_link(t->entries, t->n, sizeof(*t->entries));
}

static int init(struct symtab *t, Elf *elf, uint32_t type, uint64_t shift,
		wants_fn *is_wanted)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(elf, type, &header);
	Elf_Data *symbols = section ? elf_getdata(section, NULL) : NULL;
	Elf_Data *strings = symbols ? strings_of(elf, &header) : NULL;

	*t = (struct symtab){0};
	if (!strings)
		return 0;
	if (!add_all(t, elf, symbols, strings, shift, is_wanted)) {
		symtab_release(t);
		return 0;
	}
	symtab_order(t);
	return 1;
}

int symtab_init(struct symtab *t, Elf *elf, uint32_t type, uint64_t shift)
{
	return init(t, elf, type, shift, is_function);
}

int symtab_init_data(struct symtab *t, Elf *elf, uint32_t type, uint64_t shift)
{
	return init(t, elf, type, shift, is_data);
}

void symtab_release(struct symtab *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->entries[i].range.value & IS_OWNED)
			free((char *)t->entries[i].name);
	free(t->entries);
	free(t->by_name);
	*t = (struct symtab){0};
}

const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t addr)
{
	uint32_t i = ranges_find(t->entries, t->n, sizeof(*t->entries), addr);

	return i == RANGE_NONE ? NULL : &t->entries[i];
}

/* How long "foo" is in "foo.cold" and "foo.cold.3"; 0: no such name. */
static size_t length_before(const char *name, const char *part)
{
	const char *mark = NULL, *next = name;

	while ((next = strstr(next, part)))
		mark = next++;
	if (!mark || mark == name)
		return 0;
	next = mark + strlen(part);
	if (*next == '.' && next[1])
		next += 1 + strspn(next + 1, "0123456789");
	return *next ? 0 : (size_t)(mark - name);
}

/* Orders by name, and those of one name by address. */
static int name_compare(const void *a, const void *b, void *context)
{
	const struct symtab *t = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = strcmp(t->entries[i].name, t->entries[j].name);

	return order ? order : i < j ? -1 : i > j;
}

/* Returns 0: out of memory. */
static int make_names(struct symtab *t)
{
	if (t->by_name)
		return 1;
	t->by_name = calloc(t->n + 1ull, sizeof(*t->by_name));
	for (uint32_t i = 0; t->by_name && i < t->n; i++)
		t->by_name[i] = i;
	if (t->by_name)
		qsort_r(t->by_name, t->n, sizeof(*t->by_name), name_compare, t);
	return t->by_name != NULL;
}

/* Compares an entry's name with the first `length` bytes of the other. */
static int compare_begin(const struct symtab *t, uint32_t k, const char *name,
			 size_t length)
{
	const char *found = t->entries[t->by_name[k]].name;
	int order = strncmp(found, name, length);

	return order ? order : found[length] != '\0';
}

/* What e is a part of, or NULL. */
static const struct symtab_entry *find_whole(struct symtab *t,
					     const struct symtab_entry *e)
{
	size_t length = length_before(e->name, ".cold");
	const struct symtab_entry *global = NULL;

	if (!length)
		length = length_before(e->name, ".part");
	if (!length || !make_names(t))
		return NULL;
	for (uint32_t k = search_while(
		     i, t->n, compare_begin(t, i, e->name, length) < 0);
	     k < t->n && !compare_begin(t, k, e->name, length); k++) {
		const struct symtab_entry *other = &t->entries[t->by_name[k]];

		if (!(other->range.value & RANK_MASK) &&
		    other->range.value >> FILE_SHIFT ==
			    e->range.value >> FILE_SHIFT)
			return other;
		if (other->range.value & (RANK_MASK | IS_HIDDEN))
			global = other;
	}
	return global;
}

const struct symtab_entry *symtab_whole(struct symtab *t,
					const struct symtab_entry *e)
{
	const struct symtab_entry *whole;

	/* Each name is shorter than the one before it. */
	while ((whole = find_whole(t, e)))
		e = whole;
	return e;
}
