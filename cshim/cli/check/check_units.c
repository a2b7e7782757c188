/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints a row for each unit (source file, as compiled), those with trouble
 * first, with how many of its functions call the hooks and what to do about the
 * others.
 */
#include "check/check_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Units of one name (a header's, LTO's parts) are one row. */
struct row {
	const char *name;
	uint32_t n_functions, n_hooked;
	int is_assembler, is_rust, is_instrumented;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name,
		      ((const struct row *)b)->name);
}

/* 0: has no hooks, 1: some functions, 2: all, 3: nobody can mend it. */
static int trouble_of(const struct row *r)
{
	if (*r->name == '(')
		return 3;
	return !r->n_hooked ? 0 : r->n_hooked < r->n_functions ? 1 : 2;
}

static int compare_trouble(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (trouble_of(x) != trouble_of(y))
		return trouble_of(x) - trouble_of(y);
	if (x->n_functions != y->n_functions)
		return x->n_functions > y->n_functions ? -1 : 1;
	return strcmp(x->name, y->name);
}

static uint32_t merge(struct row *rows, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!kept || strcmp(rows[kept - 1].name, rows[i].name) != 0) {
			rows[kept++] = rows[i];
			continue;
		}
		rows[kept - 1].n_functions += rows[i].n_functions;
		rows[kept - 1].n_hooked += rows[i].n_hooked;
		rows[kept - 1].is_instrumented |= rows[i].is_instrumented;
	}
	return kept;
}

/* Returns how many; *out is the caller's. */
static uint32_t rows_make(const struct check_code *c, struct row **out)
{
	struct row *rows = calloc(c->n_units, sizeof(*rows));
	uint32_t n = 0;

	for (uint32_t i = 0; rows && i < c->n_units; i++) {
		const struct check_unit *u = &c->units[i];

		if (u->n_functions)
			rows[n++] = (struct row){
				.name = i + 1 < c->n_units
						? u->name
						: "(no debug information)",
				.n_functions = u->n_functions,
				.n_hooked = u->n_hooked,
				.is_assembler = u->is_assembler,
				.is_rust = check_unit_is_rust(u),
				.is_instrumented =
					check_unit_is_instrumented(u),
			};
	}
	if (n) {
		qsort(rows, n, sizeof(*rows), compare_names);
		n = merge(rows, n);
		qsort(rows, n, sizeof(*rows), compare_trouble);
	}
	*out = rows;
	return n;
}

static const char *advice(const struct row *r, const char *path)
{
	static char text[4200];

	if (r->is_assembler)
		return "assembler: the hooks must be called by hand";
	if (*r->name == '(')
		return "";
	if (r->is_rust)
		return "rustc has no option for the hooks";
	if (!r->is_instrumented)
		return "compile it with -finstrument-functions";
	if (r->n_hooked == r->n_functions)
		return "";
	if (page_is_in_gdb())
		return "cstrace check REGEX tells why";
	snprintf(text, sizeof(text), "cstrace check %.4096s REGEX tells why",
		 shown(path));
	return text;
}

void print_units(const struct check *c, uint32_t limit)
{
	struct row *rows;
	uint32_t n = rows_make(&c->code, &rows);
	int width = 4;

	for (uint32_t i = 0; i < n && i < limit; i++)
		if ((int)strlen(shown(rows[i].name)) > width)
			width = (int)strlen(shown(rows[i].name));
	if (n && page_is_text())
		printf("\n  FUNCTIONS  WITH HOOKS  %s\n", "UNIT");
	for (uint32_t i = 0; i < n && i < limit; i++) {
		/* Where none is instrumented, the verdict says so. */
		const char *more =
			c->sites.n ? advice(&rows[i], c->file.path) : "";

		print_unit(rows[i].name, rows[i].n_functions, rows[i].n_hooked,
			   width, more);
	}
	if (n > limit && page_is_text())
		printf("  and %u more units: %s shows them\n", n - limit,
		       page_is_in_gdb() ? "-all" : "--all");
	free(rows);
}
