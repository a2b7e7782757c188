/* SPDX-License-Identifier: MIT
 *
 * Goes through the units of the debug information with libdw, by a handle that
 * is opened anew when it holds many rows: libdw never lets go of a table.
 */
#include "plan/source_rows.h"
#include "base/array.h"
#include "elf/insn.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

enum { MANY_ROWS = 1 << 20, MAX_DEPTH = 96 };

struct rows {
	struct image *im;
	struct functions *f;
	size_t n; /* rows that the handle holds */
	uint32_t n_calls;
	uint64_t *places; /* where inlined calls' code begins and ends */
	uint32_t n_places, cap_places;
	int failed; /* out of memory */
};

static void mark_row(struct rows *r, Dwarf_Line *line)
{
	bool is_statement = false, is_end = false;
	Dwarf_Addr addr;
	int number = 0;

	if (!dwarf_lineaddr(line, &addr) &&
	    !dwarf_linebeginstatement(line, &is_statement) && is_statement &&
	    !dwarf_lineendsequence(line, &is_end) && !is_end &&
	    !dwarf_lineno(line, &number) && number)
		image_mark(r->im, addr, MARK_ROW);
}

/* gdb finds the line of an address by the row before it. */
static void mark_line(struct image *im, Dwarf_Line *line, Dwarf_Line *next)
{
	bool is_end = false;
	Dwarf_Addr start, end;
	int number = 0;

	if (dwarf_lineaddr(line, &start) || dwarf_lineno(line, &number) ||
	    dwarf_lineendsequence(line, &is_end) || is_end ||
	    dwarf_lineaddr(next, &end) || start < im->code_start ||
	    end > im->code_end)
		return;
	for (uint64_t at = start; at < end; at++)
		im->scopes[at - im->code_start] = (uint32_t)number & SCOPE_LINE;
}

/* The functions that begin in the range. */
static void mark_assembler(struct functions *f, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->all[i].start >= start && f->all[i].start < end)
			f->all[i].is_assembler = 1;
}

/* Where no statement begins with an inlined call's code, gdb's `step` takes the
 * first instruction for one of the caller's, and stops behind it. */
static void mark_second(struct image *im, uint64_t start)
{
	uint64_t n = 0;
	const uint8_t *bytes = image_bytes(im, start, &n);
	struct insn i;

	if (!(image_marks(im, start) & MARK_ROW) && bytes &&
	    insn_decode(&i, bytes, n, start))
		image_mark(im, start + i.length, MARK_ROW);
}

static void note_place(struct rows *r, uint64_t place)
{
	if (array_room(&r->places, &r->cap_places, r->n_places + 1ull))
		r->failed = 1;
	else
		r->places[r->n_places++] = place;
}

/* Calls that are near each other have different numbers. */
static void mark_code(struct rows *r, uint64_t start, uint64_t end,
		      uint32_t call)
{
	struct image *im = r->im;

	if (start < im->code_start || end > im->code_end)
		return;
	for (uint64_t at = start; at < end; at++)
		im->scopes[at - im->code_start] =
			call | (im->scopes[at - im->code_start] & SCOPE_LINE);
	mark_second(im, start);
	note_place(r, start);
	note_place(r, end);
}

static void mark_call(struct rows *r, Dwarf_Die *call)
{
	uint32_t number = ++r->n_calls * (SCOPE_LINE + 1u);
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(call, at, &base, &start, &end)) > 0)
		mark_code(r, start, end, number);
}

/* May a value of its type be passed in a vector register? */
static int is_in_vector(Dwarf_Die *parameter)
{
	Dwarf_Die type, peeled;
	Dwarf_Word encoding;
	Dwarf_Attribute a;

	if (!dwarf_formref_die(dwarf_attr_integrate(parameter, DW_AT_type, &a),
			       &type) ||
	    dwarf_peel_type(&type, &peeled))
		return 1;
	switch (dwarf_tag(&peeled)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_enumeration_type:
		return 0;
	case DW_TAG_base_type:
		return dwarf_formudata(dwarf_attr_integrate(&peeled,
							    DW_AT_encoding, &a),
				       &encoding) ||
		       (encoding != DW_ATE_boolean &&
			(encoding < DW_ATE_signed ||
			 encoding > DW_ATE_unsigned_char));
	default:
		return 1;
	}
}

static int takes_vectors(Dwarf_Die *function)
{
	Dwarf_Die die;

	if (dwarf_child(function, &die))
		return 0;
	do {
		if (dwarf_tag(&die) == DW_TAG_formal_parameter &&
		    is_in_vector(&die))
			return 1;
	} while (!dwarf_siblingof(&die, &die));
	return 0;
}

/* The function may be in several ranges, and begins with any. */
static void see_parameters(struct functions *f, Dwarf_Die *function)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (!takes_vectors(function))
		return;
	while ((at = dwarf_ranges(function, at, &base, &start, &end)) > 0) {
		uint32_t i = functions_at(f, start);

		if (i != FUNCTION_NONE)
			f->all[i].takes_vectors = 1;
	}
}

static void mark_calls(struct rows *r, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			mark_call(r, &die);
			mark_calls(r, &die, depth + 1);
			break;
		case DW_TAG_subprogram:
			see_parameters(r->f, &die);
			mark_calls(r, &die, depth + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
			mark_calls(r, &die, depth + 1);
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

static void mark_unit(struct rows *r, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	Dwarf_Lines *lines;
	ptrdiff_t at = 0;
	size_t n;

	if (!dwarf_getsrclines(unit, &lines, &n)) {
		for (size_t i = 0; i < n; i++)
			mark_row(r, dwarf_onesrcline(lines, i));
		for (size_t i = 0; r->im->scopes && i + 1 < n; i++)
			mark_line(r->im, dwarf_onesrcline(lines, i),
				  dwarf_onesrcline(lines, i + 1));
		r->n += n;
	}
	if (dwarf_srclang(unit) != DW_LANG_Mips_Assembler)
		return;
	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0)
		mark_assembler(r->f, start, end);
}

static void mark_units(struct rows *r, Elf *elf)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_Off at = 0, next;
	Dwarf_Die unit;
	size_t head;

	while (dwarf &&
	       !dwarf_nextcu(dwarf, at, &next, &head, NULL, NULL, NULL)) {
		if (dwarf_offdie(dwarf, at + head, &unit))
			mark_unit(r, &unit);
		at = next;
		if (r->n < MANY_ROWS)
			continue;
		dwarf_end(dwarf);
		dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
		r->n = 0;
	}
	dwarf_end(dwarf);
}

static void mark_inlined(struct rows *r, Elf *elf)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_Die die, split;
	Dwarf_CU *cu = NULL;

	while (dwarf &&
	       !dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, &split))
		mark_calls(r, split.addr ? &split : &die, 0);
	dwarf_end(dwarf);
	for (uint32_t i = 0; i < r->n_places; i++)
		image_mark(r->im, r->places[i], MARK_ROW);
	free(r->places);
}

int source_rows_mark(struct image *im, struct functions *f, int is_for_gdb)
{
	struct rows r = {.im = im, .f = f};
	struct elf_file *file = NULL;

	if (elf_file_has_dwarf(&im->file))
		file = &im->file;
	else if (f->debug.elf && elf_file_has_dwarf(&f->debug))
		file = &f->debug;
	if (!file)
		return 0;
	zsections_unpack(&file->unpacked, file->elf);
	if (is_for_gdb)
		im->scopes = calloc(im->code_end - im->code_start,
				    sizeof(*im->scopes));
	if (is_for_gdb && !im->scopes)
		return -1;
	mark_units(&r, file->elf);
	for (uint32_t i = 0; i < f->n; i++)
		f->all[i].has_line =
			(image_marks(im, f->all[i].start) & MARK_ROW) != 0;
	if (is_for_gdb)
		mark_inlined(&r, file->elf);
	return r.failed ? -1 : 1;
}
