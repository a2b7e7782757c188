/* SPDX-License-Identifier: MIT
 *
 * A file imports what its table of dynamic symbols names and does not define.
 */
#include "plan/imports.h"
#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
#include "elf/dynsym.h"
#include "elf/elffile.h"

#include <stdlib.h>
#include <string.h>

int imports_add(struct imports *out, const char *name)
{
	char *copy;

	if (array_room(&out->names, &out->cap, out->n + 1ull))
		return CST_MEMORY;
	copy = strdup(name);
	if (!copy)
		return CST_MEMORY;
	out->names[out->n++] = copy;
	return 0;
}

/* Old linkers give what is imported no type. */
static int is_import(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return symbol->st_shndx == SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_NOTYPE);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void imports_order(struct imports *i)
{
	uint32_t kept = 0;

	if (i->n)
		qsort(i->names, i->n, sizeof(*i->names), compare);
	for (uint32_t k = 0; k < i->n; k++) {
		if (kept && !strcmp(i->names[kept - 1], i->names[k]))
			free(i->names[k]);
		else
			i->names[kept++] = i->names[k];
	}
	i->n = kept;
}

static int is_own(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC);
}

static int add_file(struct imports *taken, struct imports *own,
		    const char *path)
{
	struct dynsym_entry e;
	struct elf_file f;
	struct dynsym d;
	int status = 0;

	if (!elf_file_open(&f, elf_file_descriptor(path)))
		return 0;
	dynsym_init(&d, f.elf);
	while (!status && dynsym_next(&d, &e))
		if (is_import(&e.symbol))
			status = imports_add(taken, e.name);
		else if (is_own(&e.symbol))
			status = imports_add(own, e.name);
	elf_file_close(&f);
	return status;
}

static void sieve(struct imports *from, const struct imports *others,
		  int keeps_theirs)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < from->n; i++) {
		if (imports_has(others, from->names[i]) == keeps_theirs)
			from->names[kept++] = from->names[i];
		else
			free(from->names[i]);
	}
	from->n = kept;
}

void imports_drop(struct imports *from, const struct imports *others)
{
	sieve(from, others, 0);
}

void imports_keep(struct imports *from, const struct imports *others)
{
	sieve(from, others, 1);
}

int imports_init(struct imports *out, const char *const *paths, uint32_t n)
{
	struct imports own = {0};
	int status = 0;

	*out = (struct imports){0};
	for (uint32_t i = 0; i < n && !status; i++)
		status = add_file(out, &own, paths[i]);
	imports_order(out);
	imports_order(&own);
	/* What one of the files has goes before what others have. */
	imports_drop(out, &own);
	imports_release(&own);
	return status;
}

void imports_release(struct imports *i)
{
	for (uint32_t k = 0; k < i->n; k++)
		free(i->names[k]);
	free(i->names);
	*i = (struct imports){0};
}

int imports_has(const struct imports *i, const char *name)
{
	uint32_t n = search_while(k, i->n, strcmp(i->names[k], name) < 0);

	return n < i->n && !strcmp(i->names[n], name);
}
