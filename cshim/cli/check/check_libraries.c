/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing of the file is run to find out, as ldd would.
 */
#include "check/check_libraries.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "elf/dynsym.h"
#include "elf/elffile.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LIBRARIES = 512, MAX_NESTING = 4 };

static const char *const system_folders[] = {
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib",
};

/* Has the folders that musl looks in; there may be none. */
static const char musl_folders[] = "/etc/ld-musl-x86_64.path";

/* Returns the path of the file `name` in the first of the folders ("a:b:c",
 * with $ORIGIN) that has it, the caller's; or NULL. */
static char *find_in(const char *folders, size_t length, const char *origin,
		     const char *name)
{
	static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
	const char *end = folders + length;

	while (folders < end) {
		const char *colon =
			memchr(folders, ':', (size_t)(end - folders));
		size_t n = (size_t)((colon ? colon : end) - folders);
		const char *rest = folders;
		char path[PATH_MAX];
		const char *base = "";

		for (size_t i = 0; i < 2; i++)
			if (n >= strlen(words[i]) &&
			    !strncmp(rest, words[i], strlen(words[i]))) {
				base = origin;
				rest += strlen(words[i]);
				n -= strlen(words[i]);
			}
		snprintf(path, sizeof(path), "%s%.*s/%s", base, (int)n, rest,
			 name);
		if ((n || *base) && !access(path, R_OK))
			return strdup(path);
		folders = colon ? colon + 1 : end;
	}
	return NULL;
}

/* Looks for the library in the folders of /etc/ld.so.conf. */
static char *find_configured(const char *list, const char *name, int nesting)
{
	char line[PATH_MAX], *found = NULL;
	FILE *in = nesting < MAX_NESTING ? fopen(list, "re") : NULL;

	while (in && !found && fgets(line, sizeof(line), in)) {
		glob_t files = {0};

		line[strcspn(line, "#\n")] = '\0';
		if (strncmp(line, "include ", 8) != 0) {
			if (line[0] == '/')
				found = find_in(line, strcspn(line, " \t"), "",
						name);
			continue;
		}
		if (!glob(line + 8, 0, NULL, &files))
			for (size_t i = 0; i < files.gl_pathc && !found; i++)
				found = find_configured(files.gl_pathv[i], name,
							nesting + 1);
		globfree(&files);
	}
	if (in)
		fclose(in);
	return found;
}

/* musl has its libc in the loader. */
static int is_musls_own(const char *name)
{
	return !strcmp(name, "libc.so") || text_begins(name, "libc.musl-") ||
	       text_begins(name, "ld-musl-");
}

static char *find_by_musl(const char *name)
{
	char folders[PATH_MAX] = "/lib:/usr/local/lib:/usr/lib";
	FILE *in = fopen(musl_folders, "re");
	size_t n = in ? fread(folders, 1, sizeof(folders) - 1, in) : 0;

	if (in)
		fclose(in);
	if (n)
		folders[n] = '\0';
	for (char *c = folders; (c = strchr(c, '\n')); c++)
		*c = ':';
	return find_in(folders, strlen(folders), "", name);
}

static char *find(const struct libraries *l, const char *name,
		  const char *runpath, const char *origin)
{
	const char *users = getenv("LD_LIBRARY_PATH");
	char *found;

	if (l->musl && is_musls_own(name))
		return strdup(l->musl);
	if (strchr(name, '/'))
		return access(name, R_OK) ? NULL : strdup(name);
	found = runpath ? find_in(runpath, strlen(runpath), origin, name)
			: NULL;
	if (!found && users)
		found = find_in(users, strlen(users), origin, name);
	if (l->musl)
		return found ? found : find_by_musl(name);
	for (size_t i = 0;
	     !found && i < sizeof(system_folders) / sizeof(*system_folders);
	     i++)
		found = find_in(system_folders[i], strlen(system_folders[i]),
				"", name);
	return found ? found : find_configured("/etc/ld.so.conf", name, 0);
}

static int is_there(const struct libraries *l, const char *name)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (!strcmp(l->all[i].name, name))
			return 1;
	return 0;
}

static int add(struct libraries *l, const char *name, const char *runpath,
	       const char *origin)
{
	const char *base = text_last_name(name);
	struct library *new;

	if (is_there(l, name) || l->n >= MAX_LIBRARIES)
		return 1;
	if (array_room(&l->all, &l->capacity, l->n + 1ull) < 0)
		return 0;
	new = &l->all[l->n];
	*new = (struct library){
		.name = strdup(name),
		.path = find(l, name, runpath, origin),
		.is_shim = text_begins(base, "libcstrace.so"),
		.is_libc = text_begins(base, "libc.so") ||
			   text_begins(base, "ld-"),
	};
	l->n += new->name != NULL;
	return new->name != NULL;
}

/* ---- one file ---------------------------------------------------------- */

static Elf_Data *section_of(Elf *elf, uint32_t type, GElf_Shdr *header)
{
	Elf_Scn *section = elf_file_section(elf, type, header);

	return section ? elf_getdata(section, NULL) : NULL;
}

static int add_needed(struct libraries *l, Elf *elf, const char *path)
{
	char real[PATH_MAX];
	GElf_Shdr header;
	Elf_Data *data = section_of(elf, SHT_DYNAMIC, &header);
	const char *runpath = NULL;
	GElf_Dyn d;

	if (!realpath(path, real))
		return 1;
	*strrchr(real, '/') = '\0';
	for (int i = 0; data && gelf_getdyn(data, i, &d); i++)
		if (d.d_tag == DT_RUNPATH || d.d_tag == DT_RPATH)
			runpath = elf_strptr(elf, header.sh_link, d.d_un.d_val);
	for (int i = 0; data && gelf_getdyn(data, i, &d); i++) {
		const char *name =
			d.d_tag != DT_NEEDED
				? NULL
				: elf_strptr(elf, header.sh_link, d.d_un.d_val);

		if (name && !add(l, name, runpath, real))
			return 0;
	}
	return 1;
}

/* Appends the libraries that the i-th one needs. */
static int follow(struct libraries *l, uint32_t i)
{
	const char *path = l->all[i].path;
	struct elf_file f;
	GElf_Shdr note;
	int is_done;

	if (!path || !elf_file_open(&f, elf_file_descriptor(path)))
		return 1;
	if (!l->all[i].is_libc && !l->all[i].is_shim)
		l->all[i].has_hooks =
			dynsym_use(f.elf, "__cyg_profile_func_enter") ||
			elf_file_section_named(f.elf, ".note.cstrace", &note);
	is_done = add_needed(l, f.elf, path);
	elf_file_close(&f);
	return is_done;
}

/* Notes its loader, if that is musl.  Returns 1, or 0 when out of memory. */
static int find_musl(struct libraries *l, const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section_named(f->elf, ".interp", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	const char *path = data ? data->d_buf : NULL;

	if (!path || !memchr(path, '\0', data->d_size) ||
	    !text_begins(text_last_name(path), "ld-musl-"))
		return 1;
	l->musl = strdup(path);
	return l->musl != NULL;
}

int libraries_init(struct libraries *l, const char *path)
{
	struct elf_file f;
	int is_done;

	*l = (struct libraries){0};
	if (!elf_file_open(&f, elf_file_descriptor(path)))
		return 1;
	is_done = find_musl(l, &f) && add_needed(l, f.elf, path);
	elf_file_close(&f);
	for (uint32_t i = 0; is_done && i < l->n; i++)
		is_done = follow(l, i);
	return is_done;
}

void libraries_release(struct libraries *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		free(l->all[i].name);
		free(l->all[i].path);
	}
	free(l->all);
	free(l->musl);
	*l = (struct libraries){0};
}

const struct library *libraries_owner(const struct libraries *l,
				      const char *symbol)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct elf_file f;
		enum dynsym_use use;

		if (!l->all[i].path ||
		    !elf_file_open(&f, elf_file_descriptor(l->all[i].path)))
			continue;
		use = dynsym_use(f.elf, symbol);
		elf_file_close(&f);
		if (use == DYNSYM_OWN)
			return &l->all[i];
	}
	return NULL;
}
