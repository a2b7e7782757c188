/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the findings go: as text at once, or into a table, where a row waits
 * for what mends it.
 */
#include "check/check_page.h"
#include "names/sheet.h"
#include "rows/row.h"
#include "trace_input.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_SIZE = 2048, TEXT_SIZE = 16384 };

/* One row of the table. */
struct finding {
	const char *kind; /* NULL: none waits */
	char name[TEXT_SIZE], text[TEXT_SIZE], advice[TEXT_SIZE];
	char file[TEXT_SIZE];
	int64_t n_functions, n_hooked; /* of a unit, else negative */
	int line;
};

static struct page {
	enum cst_output output;
	int is_in_gdb;
	struct bytes out;
	struct sheet sheet;
	struct finding row;
} page;

const char *shown(const char *text)
{
	static char texts[8][4 * SHOWN_SIZE];
	static unsigned next;
	char *out = texts[next++ % 8];

	*row_put_text(out, text, SHOWN_SIZE) = '\0';
	return out;
}

/* ---- the table ------------------------------------------------------------
 */

static const char *const columns[] = {
	"kind", "name", "text", "advice", "functions", "functions_with_hooks",
	"file", "line", NULL};

static void put_text(const char *text)
{
	sheet_text(&page.sheet, *text ? text : NULL);
}

static void put_count(int64_t n)
{
	if (n < 0)
		sheet_null(&page.sheet);
	else
		sheet_integer(&page.sheet, n);
}

static void flush_row(void)
{
	const struct finding *f = &page.row;

	if (!f->kind)
		return;
	sheet_text(&page.sheet, f->kind);
	put_text(f->name);
	put_text(f->text);
	put_text(f->advice);
	put_count(f->n_functions);
	put_count(f->n_hooked);
	put_text(f->file);
	put_count(f->line ? f->line : -1);
	page.row.kind = NULL;
}

static void begin_row(const char *kind, const char *name)
{
	struct finding *f = &page.row;

	flush_row();
	f->kind = kind;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->text[0] = f->advice[0] = f->file[0] = '\0';
	f->n_functions = f->n_hooked = -1;
	f->line = 0;
}

void page_begin(const char *path, enum cst_output output, int is_in_gdb)
{
	page.output = output;
	page.is_in_gdb = is_in_gdb;
	if (!output)
		return;
	sheet_begin(&page.sheet, output, &page.out);
	sheet_member_text(&page.sheet, "path", path);
	sheet_table(&page.sheet, "rows", columns);
}

int page_end(int status)
{
	if (!page.output)
		return status;
	flush_row();
	sheet_table_end(&page.sheet);
	sheet_member_truth(&page.sheet, "is_good", !status);
	sheet_end(&page.sheet);
	if (!page.out.failed)
		trace_input_write(NULL, (const char *)page.out.data,
				  page.out.len);
	bytes_release(&page.out);
	return status;
}

int page_is_text(void)
{
	return !page.output;
}

int page_is_in_gdb(void)
{
	return page.is_in_gdb;
}

/* ---- what is found --------------------------------------------------------
 */

void print_verdict_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (page_is_text()) {
		vprintf(format, args);
		putchar('\n');
	} else {
		begin_row("verdict", "");
		vsnprintf(page.row.text, TEXT_SIZE, format, args);
	}
	va_end(args);
}

void print_row(const char *label, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (page_is_text()) {
		printf("  %-11s ", label);
		vprintf(format, args);
		putchar('\n');
	} else {
		begin_row("fact", label);
		vsnprintf(page.row.text, TEXT_SIZE, format, args);
	}
	va_end(args);
}

void print_mend(const char *format, ...)
{
	char *advice = page.row.advice;
	size_t len = strlen(advice);
	va_list args;

	va_start(args, format);
	if (page_is_text()) {
		printf("    -> ");
		vprintf(format, args);
		putchar('\n');
	} else {
		if (len)
			len += (size_t)snprintf(advice + len, TEXT_SIZE - len,
						"; ");
		if (len < TEXT_SIZE)
			vsnprintf(advice + len, TEXT_SIZE - len, format, args);
	}
	va_end(args);
}

void print_function(const char *name, const char *file, int line)
{
	if (!page_is_text()) {
		begin_row("function", name);
		snprintf(page.row.file, TEXT_SIZE, "%s", file ? file : "");
		page.row.line = line;
		return;
	}
	printf("\n  %s", shown(name));
	if (file && line)
		printf("  %s:%d", shown(file), line);
	putchar('\n');
}

void print_none(const char *regex)
{
	if (page_is_text()) {
		printf("\n  no function matches '%s'\n", shown(regex));
		return;
	}
	begin_row("function", regex);
	snprintf(page.row.text, TEXT_SIZE, "no function matches");
}

void print_fate(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (page_is_text()) {
		printf("    ");
		vprintf(format, args);
		putchar('\n');
	} else {
		vsnprintf(page.row.text, TEXT_SIZE, format, args);
	}
	va_end(args);
}

void print_unit(const char *name, uint32_t n_functions, uint32_t n_hooked,
		int width, const char *advice)
{
	if (page_is_text()) {
		printf("  %9u  %10u  %-*s%s%s\n", n_functions, n_hooked,
		       *advice ? width : 0, shown(name), *advice ? "  -> " : "",
		       advice);
		return;
	}
	begin_row("unit", name);
	page.row.n_functions = n_functions;
	page.row.n_hooked = n_hooked;
	snprintf(page.row.advice, TEXT_SIZE, "%s", advice);
}
