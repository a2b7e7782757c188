/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the functions of a file and its units from symbols and debug
 * information, drops aliases, and counts for each unit how many of its
 * functions call the hooks.
 */
#include "check/check_code.h"
#include "base/array.h"
#include "elf/die.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- units ------------------------------------------------------------- */

static const char *text_of(Dwarf_Die *die, unsigned attribute)
{
	const char *text = die_text(die, attribute);

	return text ? text : "";
}

static int unit_ranges(struct check_code *c, const struct check_file *f,
		       Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		/* Code that the linker threw away is left at 0. */
		if (start >= end || (!start && f->kind != FILE_OBJECT))
			continue;
		if (array_room(&c->ranges, &c->cap_ranges, c->n_ranges + 1ull) <
		    0)
			return 0;
		c->ranges[c->n_ranges++] = (struct range){
			.start = start + f->dwarf_bias,
			.end = end + f->dwarf_bias,
			.value = c->n_units,
		};
	}
	return 1;
}

static int unit_add(struct check_code *c, const char *name,
		    const char *producer, int version, int is_assembler)
{
	if (array_room(&c->units, &c->cap_units, c->n_units + 1ull) < 0)
		return 0;
	c->units[c->n_units++] = (struct check_unit){
		.name = name,
		.producer = producer,
		.version = version,
		.is_assembler = is_assembler,
	};
	return 1;
}

static int read_units(struct check_code *c, const struct check_file *f)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	Dwarf_Half version;
	Dwarf_Word language;
	Dwarf_Attribute a;

	while (f->dwarf && !dwarf_get_units(f->dwarf, cu, &cu, &version, NULL,
					    &die, &split)) {
		Dwarf_Die *whole = split.addr ? &split : &die;
		int tag = dwarf_tag(&die);

		if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
			continue;
		if (dwarf_formudata(dwarf_attr(whole, DW_AT_language, &a),
				    &language))
			language = 0;
		if (!unit_ranges(c, f, &die) ||
		    !unit_add(c, text_of(whole, DW_AT_name),
			      text_of(whole, DW_AT_producer), version,
			      language == DW_LANG_Mips_Assembler))
			return 0;
	}
	ranges_sort(c->ranges, c->n_ranges, sizeof(*c->ranges));
	return unit_add(c, "", "", 0, 0);
}

/* ---- functions --------------------------------------------------------- */

/* What compilers and linkers bring in by themselves, or split off. */
static int is_made_up(const char *name)
{
	static const char *const names[] = {
		"_init",
		"_fini",
		"_start",
		"deregister_tm_clones",
		"register_tm_clones",
		"__do_global_dtors_aux",
		"frame_dummy",
		"_dl_relocate_static_pie",
		"__libc_csu_init",
		"__libc_csu_fini",
		"__cyg_profile_func_enter",
		"__cyg_profile_func_exit",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return 1;
	return strstr(name, ".cold") || !strncmp(name, "_GLOBAL__", 9) ||
	       !strncmp(name, "__static_initialization_and_", 28) ||
	       !strncmp(name, "__cxx_global_var_init", 21) ||
	       !strncmp(name, "_sub_I_", 7) || !strncmp(name, "_sub_D_", 7) ||
	       !strncmp(name, "asan.module_", 12) ||
	       !strncmp(name, "_ZTh", 4) || !strncmp(name, "_ZTv", 4);
}

static int function_add(struct check_code *c, const struct check_symbol *s)
{
	struct check_function *new;
	int type = GELF_ST_TYPE(s->elf.st_info);

	if (!s->is_defined || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    !s->elf.st_size || is_made_up(s->name))
		return 1;
	if (array_room(&c->functions, &c->cap_functions,
		       c->n_functions + 1ull) < 0)
		return 0;
	new = &c->functions[c->n_functions];
	*new = (struct check_function){
		.range = {.start = s->addr, .end = s->addr + s->elf.st_size},
		.name = strdup(s->name),
	};
	c->n_functions += new->name != NULL;
	return new->name != NULL;
}

static int compare_functions(const void *a, const void *b)
{
	const struct check_function *x = a, *y = b;

	if (x->range.start != y->range.start)
		return x->range.start < y->range.start ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Other names of the same code count once. */
static void drop_aliases(struct check_code *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_functions; i++) {
		if (n && c->functions[n - 1].range.start ==
				 c->functions[i].range.start)
			free(c->functions[i].name);
		else
			c->functions[n++] = c->functions[i];
	}
	c->n_functions = n;
}

static int read_functions(struct check_code *c, const struct check_file *f)
{
	for (int i = 0; i < f->n_symbols; i++) {
		struct check_symbol s;

		if (check_file_symbol(f, i, &s) && !function_add(c, &s))
			return 0;
	}
	if (c->n_functions)
		qsort(c->functions, c->n_functions, sizeof(*c->functions),
		      compare_functions);
	drop_aliases(c);
	return 1;
}

static void count(struct check_code *c, const struct hook_sites *sites)
{
	for (uint32_t i = 0; i < c->n_functions; i++) {
		struct check_function *f = &c->functions[i];
		uint32_t at = ranges_find(c->ranges, c->n_ranges,
					  sizeof(*c->ranges), f->range.start);
		uint32_t k = hook_sites_from(sites, f->range.start);

		f->unit =
			at == RANGE_NONE ? c->n_units - 1 : c->ranges[at].value;
		for (; k < sites->n && sites->all[k].addr < f->range.end; k++)
			f->n_enter += !sites->all[k].is_exit;
		c->units[f->unit].n_functions++;
		c->units[f->unit].n_hooked += f->n_enter != 0;
	}
	ranges_link(c->functions, c->n_functions, sizeof(*c->functions));
}

int check_code_init(struct check_code *c, const struct check_file *f,
		    const struct hook_sites *sites)
{
	*c = (struct check_code){0};
	if (!read_units(c, f) || !read_functions(c, f))
		return 0;
	count(c, sites);
	return 1;
}

void check_code_release(struct check_code *c)
{
	for (uint32_t i = 0; i < c->n_functions; i++)
		free(c->functions[i].name);
	free(c->functions);
	free(c->units);
	free(c->ranges);
	*c = (struct check_code){0};
}

const struct check_function *check_code_at(const struct check_code *c,
					   uint64_t addr)
{
	uint32_t i = ranges_find(c->functions, c->n_functions,
				 sizeof(*c->functions), addr);

	return i == RANGE_NONE ? NULL : &c->functions[i];
}

int check_unit_is_instrumented(const struct check_unit *u)
{
	return u->n_hooked || strstr(u->producer, "-finstrument-functions");
}

int check_unit_is_rust(const struct check_unit *u)
{
	return strstr(u->producer, "rustc version") != NULL;
}
