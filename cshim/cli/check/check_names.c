/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Walks over the debug information twice: first for names that only symbols
 * have, then for all else.  A call of a hook belongs to the innermost function
 * around it, inlined or not, which is the one that the walk comes to last.
 */
#include "check/check_names.h"
#include "base/array.h"
#include "base/error.h"
#include "base/hashmap.h"
#include "base/regex.h"
#include "check/check_table.h"
#include "elf/die.h"
#include "elf/lines.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT32_MAX, MAX_DEPTH = 96, NAME_SIZE = 4096 };

/* A copy of a function, or an inlined call. */
struct instance {
	uint32_t name; /* index */
	int is_inlined, is_hooked;
};

struct walk {
	struct check_names *out;
	const struct check_file *f;
	const struct check_code *c;
	const struct hook_sites *sites;
	struct regex *regex;
	struct lines lines;
	struct hashmap known; /* functions' DIEs, to names or NOBODY */
	struct instance *instances;
	uint32_t n_instances, cap_instances;
	uint32_t *owners; /* of sites: instances or NOBODY */
	uint32_t unit;
	uint32_t budget;
	int is_learning; /* the first of two times */
	int is_out_of_memory;
};

/* ---- names ------------------------------------------------------------- */

static uint32_t key_name(struct walk *w, const char *name, const char *key)
{
	uint32_t i = check_names_put(w->out, name, key);

	if (i == NOBODY)
		w->is_out_of_memory = 1;
	else if (w->out->all[i].unit == NOBODY)
		w->out->all[i].unit = w->c->n_units - 1;
	return i;
}

/* The definition's file and line rather than a declaration's. */
static void name_locate(struct check_name *n, Dwarf_Die *die, const char *file)
{
	if (!file || (n->file && dwarf_hasattr(die, DW_AT_declaration)))
		return;
	free(n->file);
	n->file = strdup(file);
	n->line = 0;
	dwarf_decl_line(die, &n->line);
}

/* The name of a function with this linkage name, or plain one where that is
 * NULL; NOBODY: it does not match. */
static uint32_t name_put(struct walk *w, Dwarf_Die *die, const char *linkage,
			 const char *plain)
{
	char name[NAME_SIZE], key[2 * NAME_SIZE];
	const char *file = NULL;
	uint32_t i;

	cst_demangle(linkage ? linkage : plain, name, sizeof(name));
	if (!regex_matches(w->regex, name))
		return NOBODY;
	/* dwarf_decl_file() fails on clang's files of DWARF 5. */
	lines_file(&w->lines, die, DW_AT_decl_file, &file);
	/* In C two files may each have one of that name. */
	snprintf(key, sizeof(key), "%s\n%s", name,
		 linkage || !file ? "" : file);
	i = key_name(w, name, key);
	if (i != NOBODY)
		name_locate(&w->out->all[i], die, file);
	return i;
}

static uint32_t name_new(struct walk *w, Dwarf_Die *die)
{
	const char *linkage = die_text(die, DW_AT_linkage_name);
	const char *plain = die_text(die, DW_AT_name);

	if (!linkage)
		linkage = die_text(die, DW_AT_MIPS_linkage_name);
	return linkage || plain ? name_put(w, die, linkage, plain) : NOBODY;
}

/* Up to the DIE that all instances share. */
static Dwarf_Die origin_of(const Dwarf_Die *instance)
{
	Dwarf_Die die = *instance, next;
	Dwarf_Attribute a;

	for (int i = 0; i < 16; i++) {
		if (!dwarf_attr(&die, DW_AT_abstract_origin, &a) ||
		    !dwarf_formref_die(&a, &next))
			break;
		die = next;
	}
	return die;
}

/* The name of a function's DIE; NOBODY: it does not match. */
static uint32_t name_of(struct walk *w, Dwarf_Die *die)
{
	Dwarf_Die origin = origin_of(die);
	uint64_t addr = (uint64_t)(uintptr_t)origin.addr;
	uint32_t *known = hashmap_get(&w->known, addr);
	uint32_t name;

	if (known)
		return *known;
	name = name_new(w, die);
	if (hashmap_put(&w->known, addr, name) < 0)
		w->is_out_of_memory = 1;
	return name;
}

/* gcc tells no linkage name of static functions: the symbol does, and so of
 * what is inlined of the same function elsewhere. */
static void learn_name(struct walk *w, Dwarf_Die *die)
{
	Dwarf_Die origin = origin_of(die);
	const struct check_function *f;
	Dwarf_Addr start;

	if (die_text(die, DW_AT_linkage_name) || dwarf_lowpc(die, &start))
		return;
	start += w->f->dwarf_bias;
	f = check_code_at(w->c, start);
	if (f && f->range.start == start && !strncmp(f->name, "_Z", 2) &&
	    !strchr(f->name, '.') &&
	    hashmap_put(&w->known, (uint64_t)(uintptr_t)origin.addr,
			name_put(w, die, f->name, NULL)) < 0)
		w->is_out_of_memory = 1;
}

/* ---- instances --------------------------------------------------------- */

static void own_sites(struct walk *w, uint64_t start, uint64_t end,
		      uint32_t owner)
{
	uint32_t i = hook_sites_from(w->sites, start);

	for (; i < w->sites->n && w->sites->all[i].addr < end; i++)
		w->owners[i] = owner;
}

/* Makes the sites in the code of the DIE the owner's.  Returns whether it has
 * code of its own. */
static int note_ranges(struct walk *w, Dwarf_Die *die, uint32_t owner)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int has_code = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end || (!start && w->f->kind != FILE_OBJECT))
			continue;
		own_sites(w, start + w->f->dwarf_bias, end + w->f->dwarf_bias,
			  owner);
		has_code = 1;
	}
	return has_code;
}

static void note_copy(const struct walk *w, Dwarf_Die *die,
		      struct check_name *name)
{
	Dwarf_Addr start;

	name->n_copies++;
	if (!name->addr && !dwarf_entrypc(die, &start))
		name->addr = start + w->f->dwarf_bias;
}

static void note_function(struct walk *w, Dwarf_Die *die, int is_inlined)
{
	uint32_t i = name_of(w, die);
	struct instance *new;
	struct check_name *name;

	if (i == NOBODY) {
		note_ranges(w, die, NOBODY);
		return;
	}
	if (array_room(&w->instances, &w->cap_instances,
		       w->n_instances + 1ull) < 0) {
		w->is_out_of_memory = 1;
		return;
	}
	new = &w->instances[w->n_instances];
	*new = (struct instance){.name = i, .is_inlined = is_inlined};
	name = &w->out->all[i];
	if (!dwarf_hasattr(die, DW_AT_declaration))
		name->has_debug = 1;
	if (!note_ranges(w, die, w->n_instances))
		return;
	w->n_instances++;
	if (is_inlined)
		name->n_inlined++;
	else
		note_copy(w, die, name);
	if (!is_inlined || !name->n_copies)
		name->unit = w->unit;
}

static int holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return 1;
	default:
		return 0;
	}
}

static void walk_below(struct walk *w, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (!w->budget || w->is_out_of_memory)
			return;
		w->budget--;
		if (w->is_learning && tag == DW_TAG_subprogram)
			learn_name(w, &die);
		if (!w->is_learning && (tag == DW_TAG_subprogram ||
					tag == DW_TAG_inlined_subroutine))
			note_function(w, &die,
				      tag == DW_TAG_inlined_subroutine);
		if (holds_functions(tag))
			walk_below(w, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

/* In the order in which check_code has numbered them. */
static void walk_units(struct walk *w)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;

	while (!dwarf_get_units(w->f->dwarf, cu, &cu, NULL, NULL, &die,
				&split)) {
		int tag = dwarf_tag(&die);

		/* With dwz, functions stand in units of their own. */
		w->budget = 1 << 26;
		walk_below(w, split.addr ? &split : &die, 0);
		if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit)
			w->unit++;
	}
}

static void count_hooked(struct walk *w)
{
	for (uint32_t i = 0; i < w->sites->n; i++)
		if (w->owners[i] != NOBODY && !w->sites->all[i].is_exit)
			w->instances[w->owners[i]].is_hooked = 1;
	for (uint32_t i = 0; i < w->n_instances; i++) {
		struct check_name *n = &w->out->all[w->instances[i].name];

		if (!w->instances[i].is_hooked)
			continue;
		if (w->instances[i].is_inlined)
			n->n_inlined_hooked++;
		else
			n->n_copies_hooked++;
	}
}

/* ---- without debug information ----------------------------------------- */

static int is_known(const struct check_names *o, const char *name)
{
	for (uint32_t i = 0; i < o->n; i++)
		if (!strcmp(o->all[i].name, name))
			return 1;
	return 0;
}

/* Also another name of what the debug information knows by one. */
static void note_symbol(struct walk *w, const struct check_symbol *s)
{
	const struct check_function *function =
		s->is_defined ? check_code_at(w->c, s->addr) : NULL;
	int type = GELF_ST_TYPE(s->elf.st_info);
	char name[NAME_SIZE], key[NAME_SIZE + 1];
	uint32_t i;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC &&
	     !(w->f->kind == FILE_OBJECT && type == STT_NOTYPE &&
	       !s->is_defined)) ||
	    (function && function->unit != w->c->n_units - 1 &&
	     strchr(s->name, '.')))
		return; /* foo.part.0 is known as foo */
	cst_demangle(s->name, name, sizeof(name));
	if (!regex_matches(w->regex, name))
		return;
	if (function && is_known(w->out, name))
		return;
	snprintf(key, sizeof(key), "%s\n", name);
	i = key_name(w, name, key);
	if (i == NOBODY)
		return;
	if (!s->is_defined) {
		w->out->all[i].is_imported = 1;
	} else if (function && !w->out->all[i].n_copies) {
		w->out->all[i].n_copies = 1;
		w->out->all[i].addr = function->range.start;
		w->out->all[i].unit = function->unit;
		w->out->all[i].has_debug = function->unit != w->c->n_units - 1;
		w->out->all[i].n_copies_hooked = function->n_enter != 0;
	}
}

static void walk_symbols(struct walk *w)
{
	for (int i = 0; i < w->f->n_symbols; i++) {
		struct check_symbol s;

		if (check_file_symbol(w->f, i, &s))
			note_symbol(w, &s);
	}
}

/* ---- the whole --------------------------------------------------------- */

static int walk_all(struct walk *w)
{
	w->owners = malloc((w->sites->n + 1) * sizeof(*w->owners));
	if (!w->owners)
		return 0;
	memset(w->owners, 0xff, w->sites->n * sizeof(*w->owners));
	if (w->f->dwarf) {
		lines_init(&w->lines, w->f->dwarf);
		w->is_learning = 1;
		walk_units(w);
		w->is_learning = 0;
		w->unit = 0;
		walk_units(w);
		lines_release(&w->lines);
	}
	count_hooked(w);
	walk_symbols(w);
	free(w->owners);
	free(w->instances);
	hashmap_release(&w->known);
	return !w->is_out_of_memory;
}

int check_names_find(struct check_names *out, const struct check_file *f,
		     const struct check_code *c, const struct hook_sites *sites,
		     const char *regex, struct cst_error *err)
{
	struct walk w = {.out = out, .f = f, .c = c, .sites = sites};
	int status, is_done;

	*out = (struct check_names){0};
	status = regex_compile(&w.regex, regex, err);
	if (status < 0)
		return status;
	is_done = walk_all(&w);
	regex_free(w.regex);
	if (!is_done) {
		check_names_release(out);
		return cst_fail_memory(err);
	}
	check_names_settle(out);
	return 0;
}
