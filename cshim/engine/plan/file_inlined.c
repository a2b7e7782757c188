/* SPDX-License-Identifier: MIT
 *
 * Where the compiler inlined what a user's word means: why a program without
 * hooks has no calls of it.
 */
#include "cstrace/engine.h"
#include "base/array.h"
#include "base/hashmap.h"
#include "elf/debugfile.h"
#include "elf/die.h"
#include "elf/elffile.h"
#include "elf/lines.h"
#include "names/names.h"
#include "names/wording.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 96, BUDGET = 1 << 24, NAME_SIZE = 16384 };

/* What became of a function, by its number in the names. */
struct fate {
	uint32_t n_places;
	int has_copy; /* code of its own */
};

struct walk {
	struct names *names;
	struct fate *fates;
	uint32_t cap_fates;
	struct lines lines;
	struct hashmap known; /* the DIEs that instances share, to functions */
	uint32_t budget;      /* of DIEs */
	int is_out_of_memory;
	char scope[4096]; /* "shop::" */
};

static Dwarf_Die origin_of(const Dwarf_Die *instance)
{
	Dwarf_Die die = *instance, next;
	Dwarf_Attribute a;

	for (int i = 0; i < 16; i++) {
		if ((!dwarf_attr(&die, DW_AT_abstract_origin, &a) &&
		     !dwarf_attr(&die, DW_AT_specification, &a)) ||
		    !dwarf_formref_die(&a, &next))
			break;
		die = next;
	}
	return die;
}

/* Returns the function that the DIE is of, which its instances share;
 * UINT32_MAX: out of memory. */
static uint32_t function_of(struct walk *w, const Dwarf_Die *origin)
{
	uint64_t at = (uint64_t)(uintptr_t)origin->addr;
	const uint32_t *known = hashmap_get(&w->known, at);
	uint32_t id = known ? *known : names_add_function(w->names, 0);

	if (!known && id != UINT32_MAX &&
	    (hashmap_put(&w->known, at, id) < 0 ||
	     array_room(&w->fates, &w->cap_fates, id + 1ull) < 0))
		id = UINT32_MAX;
	w->is_out_of_memory |= id == UINT32_MAX;
	return id;
}

/* gcc tells no linkage name of static functions: they are known by the scope
 * that they are declared in. */
static void learn_name(struct walk *w, Dwarf_Die *die)
{
	const char *linkage = die_text(die, DW_AT_linkage_name);
	const char *plain = die_text(die, DW_AT_name);
	Dwarf_Die origin = origin_of(die);
	const char *file = NULL;
	char name[NAME_SIZE];
	uint32_t id;

	if (linkage ? !dwarf_hasattr(die, DW_AT_inline)
		    : !plain || origin.addr != die->addr)
		return;
	id = function_of(w, &origin);
	if (id == UINT32_MAX)
		return;
	if (linkage)
		cst_demangle(linkage, name, sizeof(name));
	else
		snprintf(name, sizeof(name), "%s%s", w->scope, plain);
	lines_file(&w->lines, die, DW_AT_decl_file, &file);
	names_set_function(w->names, id, name, linkage, NULL, file);
}

/* An abstract instance holds such, too, without code.  What the linker threw
 * away is left at 0. */
static int has_place(Dwarf_Die *die)
{
	Dwarf_Addr base, start = 0, end;

	return (dwarf_entrypc(die, &start) == 0 && start) ||
	       (dwarf_ranges(die, 0, &base, &start, &end) > 0 && start);
}

static void take_instance(struct walk *w, Dwarf_Die *die, int is_inlined)
{
	Dwarf_Die origin = origin_of(die);
	uint32_t id = has_place(die) ? function_of(w, &origin) : UINT32_MAX;

	if (id == UINT32_MAX)
		return;
	w->fates[id].n_places += is_inlined != 0;
	w->fates[id].has_copy |= !is_inlined;
}

static void walk_below(struct walk *w, Dwarf_Die *parent, int depth);

static void walk_namespace(struct walk *w, Dwarf_Die *die, int depth)
{
	const char *name = die_text(die, DW_AT_name);
	size_t n = strlen(w->scope);

	snprintf(w->scope + n, sizeof(w->scope) - n,
		 "%s::", name ? name : "(anonymous namespace)");
	walk_below(w, die, depth);
	w->scope[n] = '\0';
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
		if (tag == DW_TAG_inlined_subroutine ||
		    tag == DW_TAG_subprogram)
			take_instance(w, &die,
				      tag == DW_TAG_inlined_subroutine);
		if (tag == DW_TAG_subprogram)
			learn_name(w, &die);
		if (tag == DW_TAG_namespace)
			walk_namespace(w, &die, depth + 1);
		else if (tag == DW_TAG_inlined_subroutine ||
			 tag == DW_TAG_subprogram ||
			 tag == DW_TAG_lexical_block ||
			 tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
			 tag == DW_TAG_module)
			walk_below(w, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

static void walk_units(struct walk *w, Elf *elf)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_Die die, split;
	Dwarf_CU *cu = NULL;

	if (dwarf)
		lines_init(&w->lines, dwarf);
	while (dwarf &&
	       !dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, &split))
		walk_below(w, split.addr ? &split : &die, 0);
	if (dwarf)
		lines_release(&w->lines);
	dwarf_end(dwarf);
}

/* Their hooks are inlined, too: such calls would be seen. */
static int has_hooks(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data =
			gelf_getshdr(section, &header) &&
					(header.sh_type == SHT_DYNSYM ||
					 header.sh_type == SHT_SYMTAB)
				? elf_getdata(section, NULL)
				: NULL;
		GElf_Sym s;

		for (int i = 0; data && gelf_getsym(data, i, &s); i++) {
			const char *name =
				elf_strptr(elf, header.sh_link, s.st_name);

			if (name && !strcmp(name, "__cyg_profile_func_enter"))
				return 1;
		}
	}
	return 0;
}

/* A regex that names no function was meant for others. */
static uint32_t n_places(struct walk *w, struct wording *wording)
{
	uint64_t n = 0;

	wording_learn(wording, w->names);
	for (uint32_t i = 0; wording->best && i < w->names->n_functions; i++)
		if (wording_matches(wording, &w->names->functions[i]))
			n += w->fates[i].n_places;
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* ---- what is nowhere else ----------------------------------------------- */

/* Units have their own DIEs of a function that several of them include. */
static int compare(const void *a, const void *b, void *of)
{
	const struct function *all = of;
	const struct function *f = &all[*(const uint32_t *)a];
	const struct function *g = &all[*(const uint32_t *)b];
	int order = strcmp(f->name, g->name);

	if (!order)
		order = strcmp(f->symbol ? f->symbol : "",
			       g->symbol ? g->symbol : "");
	return order ? order
		     : strcmp(f->file ? f->file : "", g->file ? g->file : "");
}

/* Returns how many functions have no code but where they were inlined, the C++
 * library's and system headers' left out. */
static uint32_t n_away(struct walk *w)
{
	uint32_t n = w->names->n_functions, n_found = 0;
	uint32_t *order = calloc(n + 1ull, sizeof(*order));

	for (uint32_t i = 0; order && i < n; i++)
		order[i] = i;
	if (order)
		qsort_r(order, n, sizeof(*order), compare, w->names->functions);
	for (uint32_t i = 0, next; order && i < n; i = next) {
		int is_away = !w->names->functions[order[i]].is_std;
		uint64_t n_all = 0;

		for (next = i; next < n && !compare(&order[i], &order[next],
						    w->names->functions);
		     next++) {
			n_all += w->fates[order[next]].n_places;
			is_away &= !w->fates[order[next]].has_copy;
		}
		n_found += is_away && n_all;
	}
	free(order);
	return n_found;
}

/* ---- files -------------------------------------------------------------- */

/* wording: NULL: the functions that are inlined everywhere are counted. */
static uint32_t look_into(const struct elf_file *file, const char *path,
			  const char *debug_file, struct wording *wording)
{
	struct walk w = {.names = names_new(), .budget = BUDGET};
	struct elf_file debug;
	uint32_t n = 0;

	if (w.names && elf_file_has_dwarf(file)) {
		walk_units(&w, file->elf);
	} else if (w.names &&
		   elf_file_open_debug(file, path, debug_file, &debug)) {
		walk_units(&w, debug.elf);
		elf_file_close(&debug);
	}
	if (w.names && !w.is_out_of_memory && w.budget)
		n = wording ? n_places(&w, wording) : n_away(&w);
	hashmap_release(&w.known);
	names_free(w.names);
	free(w.fates);
	return n;
}

uint32_t cst_file_inlined_away(const char *path, const char *debug_file)
{
	struct elf_file file;
	uint32_t n = 0;

	if (elf_file_open(&file, elf_file_descriptor(path)) &&
	    !has_hooks(file.elf))
		n = look_into(&file, path, debug_file, NULL);
	elf_file_close(&file);
	return n;
}

uint32_t cst_file_inlined(const char *path, const char *build_id,
			  const char *word, enum cst_names names)
{
	char its[BUILD_ID_SIZE];
	struct elf_file file;
	struct wording w;
	uint32_t n = 0;

	if (wording_init(&w, word, names, NULL) < 0)
		return 0;
	if (elf_file_open(&file, elf_file_descriptor(path))) {
		elf_file_build_id(&file, its);
		if ((!build_id || !strcmp(its, build_id)) &&
		    !has_hooks(file.elf))
			n = look_into(&file, path, NULL, &w);
	}
	elf_file_close(&file);
	wording_release(&w);
	return n;
}
