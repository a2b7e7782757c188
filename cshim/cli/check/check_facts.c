/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints what kind of file it is, where its hooks come from, and which debug
 * information, symbols, sanitizers and libraries it has: the first part of the
 * output of `cstrace check`.
 */
#include "base/error.h"
#include "check/check_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_file(const struct check_file *f)
{
	static const char *const kinds[] = {"program", "library",
					    "object file"};
	static const char *const linked[] = {"static", "dynamic"};

	if (f->kind != FILE_PROGRAM)
		print_row("file", "%s for x86-64", kinds[f->kind]);
	else
		print_row("file", "%s for x86-64, %s, %s", kinds[f->kind],
			  linked[f->is_dynamic],
			  f->is_pie ? "position independent (PIE)"
				    : "at a fixed address (no PIE)");
}

static void print_hooks(const struct check_file *f)
{
	static const char *const texts[] = {
		[HOOKS_NONE] = "none",
		[HOOKS_IMPORTED] = "imported, as libcstrace.so supplies them",
		[HOOKS_OWN] = "defined by the file itself",
		[HOOKS_SHIM] = "libcstrace.so's, which it is linked with",
		[HOOKS_ARCHIVE] = "libcstrace.a's, which is linked in",
	};

	print_row("hooks", "%s", texts[f->hooks]);
}

static void print_debug(const struct check *c)
{
	char text[128] = "";
	int seen[8] = {0};

	for (uint32_t i = 0; i + 1 < c->code.n_units; i++)
		if (c->code.units[i].version < 8)
			seen[c->code.units[i].version] = 1;
	for (int i = 0; i < 8; i++)
		if (seen[i])
			sprintf(text + strlen(text), "%s%d",
				*text ? " and " : "DWARF ", i);
	if (!*text) {
		print_row("debug info", "none: calls have no file and line");
		print_mend("compile with -g");
	} else if (*c->file.debug_path) {
		print_row("debug info", "%s, in %s", text,
			  shown(c->file.debug_path));
	} else {
		print_row("debug info", "%s", text);
	}
}

static void print_symbols(const struct check_file *f)
{
	if (!f->is_stripped) {
		print_row("symbols", "all");
		return;
	}
	print_row("symbols", f->is_dynamic
				     ? "exported ones only (stripped): other "
				       "functions have no name"
				     : "none (stripped)");
	print_mend("do not strip it (no -s, no strip), or install its debug "
		   "file");
}

static void print_sanitizers(const struct check_file *f)
{
	char text[128] = "";

	for (int i = 0; i < N_SANITIZERS; i++)
		if (f->has_sanitizer[i])
			sprintf(text + strlen(text), "%s%s", *text ? ", " : "",
				check_sanitizer_name(i));
	if (*text)
		print_row("sanitizers", "%s", text);
}

static int is_of_group(const struct library *l, int group)
{
	if (!l->path)
		return group == 2;
	return !l->is_shim && l->has_hooks == !group && group < 2;
}

/* Their names behind one another, for the caller to free; NULL: none. */
static char *list_group(const struct libraries *l, int group)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int n = 0;

	for (uint32_t i = 0; f && i < l->n; i++)
		if (is_of_group(&l->all[i], group))
			fprintf(f, "%s%s", n++ ? ", " : "",
				shown(l->all[i].name));
	if (f)
		fclose(f);
	if (n)
		return text;
	free(text);
	return NULL;
}

static void print_libraries(const struct libraries *l)
{
	static const char *const labels[] = {"with hooks", "no hooks",
					     "not found"};

	for (int group = 0; group < 3; group++) {
		auto_free char *names = list_group(l, group);

		if (names)
			print_row("libraries", "%s: %s", labels[group], names);
		if (names && group == 2)
			print_mend("install them, or say where they are: "
				   "LD_LIBRARY_PATH, -Wl,-rpath");
	}
}

void print_facts(const struct check *c)
{
	print_file(&c->file);
	print_hooks(&c->file);
	if (c->file.is_lto)
		print_row("code", "the compiler's own (-flto), not yet the "
				  "processor's");
	print_debug(c);
	print_symbols(&c->file);
	if (*c->rights)
		print_row("rights", "%s", c->rights);
	print_sanitizers(&c->file);
	print_libraries(&c->libraries);
}
