/* SPDX-License-Identifier: MIT
 *
 * .debug_aranges is not relied on (clang leaves it out): the units' own ranges
 * are sorted once, and within a unit those of its functions when the first
 * address in it is asked for.  Trees are walked with a budget of steps, so that
 * a damaged one comes to an end too.
 */
#include "elf/inlines.h"
#include "base/array.h"
#include "base/ranges.h"
#include "elf/die.h"
#include "elf/folders.h"
#include "elf/lines.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct function {
	struct range range;
	Dwarf_Die die;
};

struct unit {
	Dwarf_Die die;
	Dwarf_Off offset; /* in .debug_info, also when it is split */
	uint32_t budget;  /* of DIEs to walk */
	struct function *functions;
	uint32_t n, capacity;
	int is_read;
};

struct inlines {
	Dwarf *dwarf;
	struct lines lines;
	struct folders folders;
	struct unit *units;
	uint32_t n_units, cap_units;
	struct range *ranges; /* value: the unit */
	uint32_t n_ranges, cap_ranges;
};

/* ---- tables ------------------------------------------------------------ */

/* Call add for each address range of die, until it returns 0. */
static void each_range(Dwarf_Die *die, int (*add)(void *arg, struct range r),
		       void *arg)
{
	enum { MAX_RANGES = 1 << 20 };
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (int i = 0; i < MAX_RANGES; i++) {
		at = dwarf_ranges(die, at, &base, &start, &end);
		if (at <= 0)
			return;
		/* Code that the linker threw away is left at 0. */
		if (start && start < end &&
		    !add(arg, (struct range){.start = start, .end = end}))
			return;
	}
}

static int unit_range(void *arg, struct range r)
{
	struct inlines *in = arg;

	if (array_room(&in->ranges, &in->cap_ranges, in->n_ranges + 1ull) < 0)
		return 0;
	r.value = in->n_units - 1;
	in->ranges[in->n_ranges++] = r;
	return 1;
}

/* With split DWARF the tree is in another file; libdw opens it if it is
 * there. */
static Dwarf_Die whole_unit(Dwarf_CU *cu, const Dwarf_Die *die)
{
	Dwarf_Die skeleton, split;
	uint8_t type;

	if (!dwarf_cu_info(cu, NULL, &type, &skeleton, &split, NULL, NULL,
			   NULL) &&
	    type == DW_UT_skeleton && split.addr)
		return split;
	return *die;
}

static void read_units(struct inlines *in)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(in->dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		int tag = dwarf_tag(&die);
		struct unit *u;

		if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
			continue;
		if (array_room(&in->units, &in->cap_units, in->n_units + 1ull) <
		    0)
			break;
		u = &in->units[in->n_units++];
		*u = (struct unit){
			.die = whole_unit(cu, &die),
			.offset = dwarf_dieoffset(&die),
			.budget = 1 << 24,
		};
		each_range(&die, unit_range, in);
	}
	ranges_sort(in->ranges, in->n_ranges, sizeof(*in->ranges));
}

struct function_sink {
	struct unit *unit;
	Dwarf_Die *die;
};

static int function_range(void *arg, struct range r)
{
	const struct function_sink *sink = arg;
	struct unit *u = sink->unit;

	if (array_room(&u->functions, &u->capacity, u->n + 1ull) < 0)
		return 0;
	u->functions[u->n++] = (struct function){r, *sink->die};
	return 1;
}

/* Can functions stand below it? */
static int holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return 1;
	default:
		return 0;
	}
}

static void read_functions(struct unit *u, Dwarf_Die *parent, int depth)
{
	enum { MAX_DEPTH = 64 };
	Dwarf_Die die;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (!u->budget)
			return;
		u->budget--;
		if (tag == DW_TAG_subprogram)
			each_range(&die, function_range,
				   &(struct function_sink){u, &die});
		if (holds_functions(tag))
			read_functions(u, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

/* ---- look-up ----------------------------------------------------------- */

static struct unit *unit_at(struct inlines *in, uint64_t addr)
{
	uint32_t i = ranges_find(in->ranges, in->n_ranges, sizeof(*in->ranges),
				 addr);

	return i == RANGE_NONE ? NULL : &in->units[in->ranges[i].value];
}

/* The function's DIE at addr, or NULL. */
static Dwarf_Die *function_at(struct inlines *in, uint64_t addr)
{
	struct unit *u = unit_at(in, addr);
	uint32_t i;

	if (!u)
		return NULL;
	if (!u->is_read) {
		read_functions(u, &u->die, 0);
		ranges_sort(u->functions, u->n, sizeof(*u->functions));
		u->is_read = 1;
	}
	i = ranges_find(u->functions, u->n, sizeof(*u->functions), addr);
	return i == RANGE_NONE ? NULL : &u->functions[i].die;
}

/* The child block or inlined call that contains addr. */
static int child_at(Dwarf_Die *die, uint64_t addr)
{
	Dwarf_Die child;
	int budget = 1 << 20;

	if (dwarf_child(die, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
		     tag == DW_TAG_catch_block ||
		     tag == DW_TAG_inlined_subroutine) &&
		    dwarf_haspc(&child, addr) > 0) {
			*die = child;
			return 1;
		}
	} while (--budget && !dwarf_siblingof(&child, &child));
	return 0;
}

int inlines_at(struct inlines *in, uint64_t addr, Dwarf_Die *out, int max)
{
	Dwarf_Die *function = function_at(in, addr);
	int n = 0, steps = 4 * INLINES_MAX;
	Dwarf_Die die;

	if (!function)
		return 0;
	die = *function;
	while (n < max && steps-- && child_at(&die, addr))
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			out[n++] = die;
	return n;
}

/* Up the abstract origins, to the DIE that all instances share. */
static Dwarf_Die origin_of(const Dwarf_Die *instance)
{
	Dwarf_Die die = *instance;

	for (int i = 0; i < 16; i++) {
		Dwarf_Attribute attr;
		Dwarf_Die next;

		if (!dwarf_attr(&die, DW_AT_abstract_origin, &attr) ||
		    !dwarf_formref_die(&attr, &next))
			break;
		die = next;
	}
	return die;
}

const void *inlines_origin(const Dwarf_Die *call)
{
	return origin_of(call).addr;
}

int inlines_has_name(const Dwarf_Die *call, const char *name)
{
	Dwarf_Die origin = origin_of(call);
	const char *its = dwarf_diename(&origin);

	return its && !strcmp(its, name);
}

void inlines_function(struct inlines *in, uint64_t addr,
		      struct inline_function *out)
{
	Dwarf_Die *die = function_at(in, addr);

	out->is_known = die != NULL;
	if (die)
		out->die = origin_of(die);
}

int inlines_frame(struct inlines *in, uint64_t addr, Dwarf_Die *out)
{
	Dwarf_Die *die = function_at(in, addr);

	if (die)
		*out = *die;
	return die != NULL;
}

static const char *linkage_name(Dwarf_Die *die)
{
	const char *name = die_text(die, DW_AT_linkage_name);

	return name ? name : die_text(die, DW_AT_MIPS_linkage_name);
}

static int is_equal(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* No linkage names (C): a static inline function of a header is one function
 * to the user in however many units it was compiled. */
static int is_same_name(Dwarf_Die *a, Dwarf_Die *b)
{
	int line_a = 0, line_b = 0;

	dwarf_decl_line(a, &line_a);
	dwarf_decl_line(b, &line_b);
	return line_a == line_b && is_equal(dwarf_diename(a), dwarf_diename(b));
}

int inlines_is_of(Dwarf_Die *call, const struct inline_function *f)
{
	Dwarf_Die origin = origin_of(call), known = f->die;
	const char *name = linkage_name(&origin);

	if (!f->is_known)
		return is_equal(name ? name : dwarf_diename(&origin),
				f->symbol);
	if (origin.addr == known.addr)
		return 1;
	if (name)
		return is_equal(name, f->symbol) ||
		       is_equal(name, linkage_name(&known));
	return !linkage_name(&known) && is_same_name(&origin, &known);
}

/* ---- files and lines --------------------------------------------------- */

int inlines_line(struct inlines *in, Dwarf_Die *call, const char **file,
		 uint32_t *line)
{
	Dwarf_Attribute attr;
	Dwarf_Word number;

	if (!dwarf_attr(call, DW_AT_call_line, &attr) ||
	    dwarf_formudata(&attr, &number) || !number || number > UINT32_MAX ||
	    !lines_file(&in->lines, call, DW_AT_call_file, file))
		return 0;
	*line = (uint32_t)number;
	return 1;
}

int inlines_source(struct inlines *in, uint64_t addr, const char **file,
		   uint32_t *line)
{
	struct unit *u = unit_at(in, addr);

	return u && lines_at(&in->lines, u->offset, addr, file, line);
}

/* Copies the file that declares the function to file, "" for none, and returns
 * the line, or 0. */
static uint32_t find_declaration(struct inlines *in, Dwarf_Die *die,
				 char file[PATH_MAX])
{
	const char *found;
	int line;

	*file = '\0';
	if (dwarf_decl_line(die, &line) || line < 0 ||
	    !lines_file(&in->lines, die, DW_AT_decl_file, &found))
		return 0;
	snprintf(file, PATH_MAX, "%s", found);
	return (uint32_t)line;
}

void inlines_definition(struct inlines *in, uint64_t addr, const char **name,
			const char **file, uint32_t *line)
{
	Dwarf_Die *die = function_at(in, addr), unit;
	char declared_in[PATH_MAX];
	uint32_t declared;
	Dwarf_Addr begin;

	*name = *file = NULL;
	*line = 0;
	if (!die)
		return;
	*name = linkage_name(die);
	if (!*name)
		*name = dwarf_diename(die);
	declared = find_declaration(in, die, declared_in);
	/* Where its code is from: a function that a system header declares,
	 * too, has that declaration as its own, though it is the program's.
	 * What the compiler made up (a lambda) is the unit's. */
	if (!(dwarf_lowpc(die, &begin) == 0 &&
	      inlines_source(in, begin, file, line)) &&
	    !lines_file(&in->lines, die, DW_AT_decl_file, file))
		*file = dwarf_diename(dwarf_diecu(die, &unit, NULL, NULL));
	/* Its code begins behind its name. */
	if (declared && *file && !strcmp(*file, declared_in))
		*line = declared;
}

const char *inlines_path(struct inlines *in, const char *file)
{
	return folders_path(&in->folders, in->dwarf, file);
}

/* ---- open and close ---------------------------------------------------- */

Dwarf *inlines_dwarf(struct inlines *in)
{
	return in->dwarf;
}

struct inlines *inlines_new(Elf *elf)
{
	struct inlines *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!in->dwarf) {
		free(in);
		return NULL;
	}
	lines_init(&in->lines, in->dwarf);
	read_units(in);
	return in;
}

void inlines_free(struct inlines *in)
{
	if (!in)
		return;
	for (uint32_t i = 0; i < in->n_units; i++)
		free(in->units[i].functions);
	free(in->units);
	free(in->ranges);
	lines_release(&in->lines);
	folders_release(&in->folders);
	dwarf_end(in->dwarf);
	free(in);
}
