/* SPDX-License-Identifier: MIT
 *
 * What a user's word means among all functions of an object file, called or
 * not: for a program that has not run yet.
 */
#include "cstrace/engine.h"
#include "elf/elffile.h"
#include "elf/forms.h"
#include "elf/stubs.h"
#include "elf/symtab.h"
#include "names/names.h"
#include "names/wording.h"

#include <stdlib.h>
#include <string.h>

/* "app+0x1139", which rows name a function without a symbol by: returns 1 and
 * its address in the file if the word is of this file. */
static int is_place(const char *path, const char *word, uint64_t *at)
{
	char *real = realpath(path, NULL), *end = NULL;
	const char *slash = real ? strrchr(real, '/') : NULL;
	size_t n = slash ? strlen(slash + 1) : 0;

	if (n && !strncmp(word, slash + 1, n) && !strncmp(word + n, "+0x", 3) &&
	    word[n + 3])
		*at = strtoull(word + n + 3, &end, 16);
	free(real);
	return end && !*end;
}

static int has_place(const char *path, const char *word, uint64_t *at)
{
	struct elf_file file;
	uint8_t byte;
	int is_there;

	if (!is_place(path, word, at))
		return 0;
	is_there = elf_file_open(&file, elf_file_descriptor(path)) &&
		   elf_file_bytes(&file, *at, &byte, 1);
	elf_file_close(&file);
	return is_there;
}

static int read_own(struct symtab *t, const struct elf_file *f)
{
	return symtab_init(t, f->elf, SHT_SYMTAB, 0) ||
	       symtab_init(t, f->elf, SHT_DYNSYM, 0);
}

/* Returns the functions with their names; NULL: out of memory. */
static struct names *names_of(const struct symtab *functions)
{
	struct names *n = names_new();

	for (uint32_t i = 0; n && i < functions->n; i++) {
		const char *symbol = functions->entries[i].name;
		uint32_t id = names_add_function(n, i);
		char name[16384];

		if (id == UINT32_MAX)
			break;
		cst_demangle(symbol, name, sizeof(name));
		names_set_function(n, id, name, symbol, NULL, NULL);
	}
	return n;
}

static int is_any(struct wording *w, const struct names *n)
{
	int is_there = 0;

	wording_learn(w, n);
	for (uint32_t i = 0; i < n->n_functions && !is_there; i++)
		is_there = wording_matches(w, &n->functions[i]);
	return is_there;
}

static int has_function(const struct symtab *functions, struct wording *w,
			const char *word, char *near, uint32_t size)
{
	struct names *n;
	int is_there = 0;

	/* Most words are names, and seen to be at once. */
	for (uint32_t i = 0; i < functions->n && !is_there; i++)
		is_there = wording_hear(w, functions->entries[i].name);
	if (is_there)
		return 1;
	n = names_of(functions);
	if (!n)
		return CST_FAILED;
	is_there = is_any(w, n);
	if (!is_there)
		wording_near(word, n, near, size);
	names_free(n);
	return is_there;
}

int cst_file_has_function(const char *path, const char *word,
			  enum cst_names names, char *near, uint32_t size)
{
	struct elf_file file;
	struct symtab functions = {0};
	struct wording w;
	uint64_t at;
	int found = CST_FAILED;

	*near = '\0';
	if (wording_init(&w, word, names, NULL) < 0)
		return CST_FAILED;
	if (!elf_file_open(&file, elf_file_descriptor(path)))
		; /* it tells of none */
	else if (has_place(path, word, &at))
		found = 1;
	else if (read_own(&functions, &file) && functions.n)
		found = has_function(&functions, &w, word, near, size);
	symtab_release(&functions);
	elf_file_close(&file);
	wording_release(&w);
	return found;
}

static int list_functions(const struct symtab *functions, struct wording *w,
			  uint64_t *out, uint32_t n)
{
	struct names *all = names_of(functions);
	uint32_t n_found = 0;

	if (!all)
		return CST_FAILED;
	wording_learn(w, all);
	for (uint32_t i = 0; i < all->n_functions; i++) {
		if (!wording_matches(w, &all->functions[i]))
			continue;
		if (n_found < n)
			out[n_found] = functions->entries[i].range.start;
		n_found++;
	}
	names_free(all);
	return (int)n_found;
}

/* Sets out as cst_file_functions() does, by the table that fill() makes of the
 * file. */
static int find_in(const char *path, const char *word, enum cst_names names,
		   int (*fill)(struct symtab *, const struct elf_file *),
		   uint64_t *out, uint32_t n, struct cst_error *err)
{
	struct elf_file file;
	struct symtab functions = {0};
	struct wording w;
	int found = wording_init(&w, word, names, err);

	if (found < 0)
		return found;
	found = 0;
	if (elf_file_open(&file, elf_file_descriptor(path)) &&
	    fill(&functions, &file))
		found = list_functions(&functions, &w, out, n);
	symtab_release(&functions);
	elf_file_close(&file);
	wording_release(&w);
	return found;
}

static int read_called(struct symtab *t, const struct elf_file *f)
{
	struct stubs stubs;
	int status = stubs_init(&stubs, f);

	forms_init(t, f);
	for (uint32_t i = 0; i < stubs.n_code && !status; i++) {
		const struct stub_code *code = &stubs.code[i];
		const char *name = stubs.all[code->stub].name;

		if (name)
			status = symtab_add(t, name, code->start, code->end, 1);
	}
	stubs_release(&stubs);
	symtab_order(t);
	return !status;
}

int cst_file_functions(const char *path, const char *word, enum cst_names names,
		       uint64_t *out, uint32_t n, struct cst_error *err)
{
	uint64_t at;

	if (!has_place(path, word, &at))
		return find_in(path, word, names, read_own, out, n, err);
	if (n)
		out[0] = at;
	return 1;
}

int cst_file_called(const char *path, const char *word, enum cst_names names,
		    uint64_t *out, uint32_t n, struct cst_error *err)
{
	return find_in(path, word, names, read_called, out, n, err);
}
