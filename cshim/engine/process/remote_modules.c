/* SPDX-License-Identifier: MIT
 *
 * A kind follows from a file's name, and from what it exports.
 */
#include "process/remote_modules.h"
#include "base/array.h"
#include "base/text.h"
#include "elf/elffile.h"
#include "elf/symtab.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum module_kind kind_by_name(const char *path)
{
	const char *name = text_last_name(path);

	if (text_begins(name, "ld-") || text_begins(name, "ld.so"))
		return MODULE_LOADER;
	if (text_begins(name, "libc.so") || text_begins(name, "libc-2") ||
	    text_begins(name, "libpthread") || text_begins(name, "libdl.") ||
	    text_begins(name, "libdl-"))
		return MODULE_LIBC;
	if (text_begins(name, "libgcc_s"))
		return MODULE_UNWINDER;
	if (text_begins(name, "libcstrace.so"))
		return MODULE_SHIM;
	if (text_begins(name, "libcstrace-sample.so"))
		return MODULE_SAMPLER;
	return MODULE_OWN;
}

static uint64_t find(Elf *elf, const char *name, int is_data, uint64_t bias)
{
	struct symtab t = {0};
	uint64_t found = 0;

	if (is_data)
		symtab_init_data(&t, elf, SHT_DYNSYM, bias);
	else
		symtab_init(&t, elf, SHT_DYNSYM, bias);
	for (uint32_t i = 0; i < t.n && !found; i++)
		if (!strcmp(t.entries[i].name, name))
			found = t.entries[i].range.start;
	symtab_release(&t);
	return found;
}

uint64_t remote_module_symbol(const struct remote_module *m, const char *name,
			      int is_data)
{
	struct elf_file f;
	uint64_t found;

	if (!elf_file_open(&f, elf_file_descriptor(m->path)))
		return 0;
	found = find(f.elf, name, is_data, m->bias);
	elf_file_close(&f);
	return found;
}

/* The bias, and whether it is an allocator. */
static void look_into(struct remote_module *m)
{
	struct elf_file f;

	if (maps_is_memory(m->path) && !m->is_program)
		m->kind = MODULE_NONE;
	if (!elf_file_open(&f, elf_file_descriptor(m->path)))
		return;
	elf_file_bias(&f, m->start, m->offset, &m->bias);
	if (m->kind == MODULE_OWN && find(f.elf, "malloc", 0, 0))
		m->kind = MODULE_ALLOCATOR;
	elf_file_close(&f);
}

/* The program's file may have been replaced: its link in /proc is there. */
static char *path_of(pid_t pid, const struct mapping *at, const char *program)
{
	char link[64];

	if (!at->is_deleted || strcmp(at->path, program) != 0)
		return strdup(at->path);
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	return strdup(link);
}

static void read_program(pid_t pid, char out[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	char link[64], *end;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = '\0';
	end = strstr(out, deleted);
	if (end && !end[sizeof(deleted) - 1])
		*end = '\0';
}

int remote_modules_init(struct remote_modules *m, pid_t pid,
			struct cst_error *err)
{
	char program[PATH_MAX];
	struct mapping at;
	uint64_t from = 0;
	int status;

	*m = (struct remote_modules){0};
	status = maps_read(&m->maps, (uint32_t)pid, err);
	if (status < 0)
		return status;
	read_program(pid, program);
	while (maps_next(&m->maps, &from, &at)) {
		struct remote_module *new;

		if (array_room(&m->all, &m->cap, m->n + 1ull) < 0)
			return cst_fail_memory(err);
		new = &m->all[m->n];
		*new = (struct remote_module){
			.start = at.start,
			.end = at.end,
			.offset = at.offset,
			.path = path_of(pid, &at, program),
			.kind = kind_by_name(at.path),
			.is_program = !strcmp(at.path, program)};
		if (!new->path)
			return cst_fail_memory(err);
		m->n++;
		look_into(new);
	}
	return 0;
}

void remote_modules_release(struct remote_modules *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		free(m->all[i].path);
	free(m->all);
	maps_release(&m->maps);
	*m = (struct remote_modules){0};
}

const struct remote_module *remote_modules_at(const struct remote_modules *m,
					      uint64_t pc)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (pc >= m->all[i].start && pc < m->all[i].end)
			return &m->all[i];
	return NULL;
}

const struct remote_module *remote_modules_first(const struct remote_modules *m,
						 enum module_kind kind)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->all[i].kind == kind)
			return &m->all[i];
	return NULL;
}

uint64_t remote_modules_libc(const struct remote_modules *m, const char *name)
{
	uint64_t found = 0;

	/* Before 2.34 some were in libraries of their own. */
	for (uint32_t i = 0; i < m->n && !found; i++)
		if (m->all[i].kind == MODULE_LIBC)
			found = remote_module_symbol(&m->all[i], name, 0);
	return found;
}
