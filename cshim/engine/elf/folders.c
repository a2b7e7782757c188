/* SPDX-License-Identifier: MIT
 *
 * Reads the units' folders once, and asks for each file once whether it is
 * there.
 */
#include "elf/folders.h"
#include "base/array.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct folders_path {
	char *file, *path; /* path NULL: not known */
};

void folders_release(struct folders *f)
{
	for (uint32_t i = 0; i < f->n_known; i++) {
		free(f->known[i].file);
		free(f->known[i].path);
	}
	free(f->known);
	free(f->all);
	*f = (struct folders){0};
}

/* Returns the folder that the unit was compiled in, or NULL. */
static const char *folder_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	const char *folder =
		dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));

	return folder && *folder == '/' ? folder : NULL;
}

static int has_folder(const struct folders *f, const char *folder)
{
	for (uint32_t i = f->n; i-- > 0;)
		if (!strcmp(f->all[i], folder))
			return 1;
	return 0;
}

static void read_folders(struct folders *f, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	f->is_read = 1;
	while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		const char *folder = folder_of(&unit);

		if (!folder || has_folder(f, folder))
			continue;
		if (array_room(&f->all, &f->cap, f->n + 1ull) < 0)
			return;
		f->all[f->n++] = folder;
	}
}

/* Writes folder/file to out; returns whether that file is there. */
static int is_there(const char *folder, const char *file, char out[PATH_MAX])
{
	while (!strncmp(file, "./", 2))
		file += 2;
	return snprintf(out, PATH_MAX, "%s/%s", folder, file) < PATH_MAX &&
	       access(out, F_OK) == 0;
}

/* Looks for the only unit that is compiled from the file. */
static int find_unit(Dwarf *dwarf, const char *file, char out[PATH_MAX])
{
	char path[PATH_MAX];
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	int n = 0;

	while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		const char *folder = folder_of(&unit);
		const char *name = dwarf_diename(&unit);

		if (!folder || !name || strcmp(name, file) != 0 ||
		    !is_there(folder, file, path))
			continue;
		if (n++ && strcmp(path, out) != 0)
			return 0;
		strcpy(out, path);
	}
	return n > 0;
}

static char *find_path(struct folders *f, Dwarf *dwarf, const char *file)
{
	char path[PATH_MAX], found[PATH_MAX];
	uint32_t n = 0;

	if (!f->is_read)
		read_folders(f, dwarf);
	for (uint32_t i = 0; i < f->n; i++)
		if (is_there(f->all[i], file, path) && !n++)
			strcpy(found, path);
	if (!n || (n > 1 && !find_unit(dwarf, file, found)))
		return NULL;
	return strdup(found);
}

const char *folders_path(struct folders *f, Dwarf *dwarf, const char *file)
{
	struct folders_path *known;

	for (uint32_t i = 0; i < f->n_known; i++)
		if (!strcmp(f->known[i].file, file))
			return f->known[i].path;
	if (array_room(&f->known, &f->cap_known, f->n_known + 1ull) < 0)
		return NULL;
	known = &f->known[f->n_known];
	known->file = strdup(file);
	if (!known->file)
		return NULL;
	known->path = find_path(f, dwarf, file);
	f->n_known++;
	return known->path;
}
