/* SPDX-License-Identifier: MIT
 *
 * Looks for the file with the symbols of a module that was traced elsewhere, in
 * the usual places of debug files, and accepts it only by its build-id.
 */
#include "elf/symbolfile.h"
#include "base/text.h"
#include "elf/debugfile.h"
#include "elf/elffile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DEBUG_FOLDER "/usr/lib/debug"

enum worth { WORTH_NOTHING, WORTH_SYMBOLS, WORTH_LINES };

struct search {
	const char *path, *name, *build_id;
	struct symbol_file *out;
	enum worth best;
};

static enum worth worth_of(const struct elf_file *f, const char *path)
{
	enum worth worth = WORTH_NOTHING;
	struct elf_file debug;
	GElf_Shdr header;

	if (elf_file_has_dwarf(f))
		return WORTH_LINES;
	if (elf_file_section(f->elf, SHT_SYMTAB, &header))
		worth = WORTH_SYMBOLS;
	if (!elf_file_open_debug(f, path, NULL, &debug))
		return worth;
	worth = elf_file_has_dwarf(&debug) ? WORTH_LINES : WORTH_SYMBOLS;
	elf_file_close(&debug);
	return worth;
}

/* "app", "app.debug": one that could have been it. */
static void note_other(struct search *s, const char *path)
{
	const char *name = text_last_name(path);
	size_t length = strlen(s->name);

	if (!*s->out->other && !strncmp(name, s->name, length) &&
	    (!name[length] || !strcmp(name + length, ".debug")))
		snprintf(s->out->other, sizeof(s->out->other), "%s", path);
}

static void try_file(struct search *s, const char *path)
{
	char build_id[BUILD_ID_SIZE];
	enum worth worth;
	struct elf_file f;

	if (s->best == WORTH_LINES ||
	    !elf_file_open(&f, elf_file_descriptor(path)))
		return;
	elf_file_build_id(&f, build_id);
	if (!strcmp(build_id, s->build_id)) {
		worth = worth_of(&f, path);
		if (worth > s->best) {
			s->best = worth;
			snprintf(s->out->path, sizeof(s->out->path), "%s",
				 path);
		}
	} else {
		note_other(s, path);
	}
	elf_file_close(&f);
}

__attribute__((format(printf, 2, 3))) static void
try_format(struct search *s, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (n > 0 && (size_t)n < sizeof(path))
		try_file(s, path);
}

/* Where gdb looks, and where people put such files. */
static void try_folder(struct search *s, const char *folder)
{
	const char *id = s->build_id;

	try_format(s, "%s/.build-id/%.2s/%s.debug", folder, id, id + 2);
	try_format(s, "%s/.build-id/%.2s/%s", folder, id, id + 2);
	if (*s->path == '/') {
		try_format(s, "%s%s", folder, s->path);
		try_format(s, "%s%s.debug", folder, s->path);
	}
	try_format(s, "%s/%s", folder, s->name);
	try_format(s, "%s/%s.debug", folder, s->name);
	try_format(s, "%s/.debug/%s.debug", folder, s->name);
}

static void try_place(struct search *s, const char *place)
{
	struct stat st;

	if (stat(place, &st))
		return;
	if (S_ISDIR(st.st_mode)) {
		try_folder(s, place);
		return;
	}
	try_file(s, place);
}

void symbol_file_find(const char *path, const char *build_id,
		      const struct symbol_places *places,
		      struct symbol_file *out)
{
	struct search s = {
		.path = path,
		.name = text_last_name(path),
		.build_id = build_id,
		.out = out,
	};

	out->path[0] = out->other[0] = 0;
	if (strlen(build_id) < 4 ||
	    build_id[strspn(build_id, "0123456789abcdef")] || !*s.name)
		return;
	for (int i = 0; i < places->n; i++)
		try_place(&s, places->all[i]);
	try_file(&s, path);
	try_folder(&s, DEBUG_FOLDER);
}
