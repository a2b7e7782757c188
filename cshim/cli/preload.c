/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Makes the value of LD_PRELOAD: a path without blanks and colons to the shim,
 * and the runtime of a sanitizer before it.
 */
#include "preload.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cstrace/engine.h"
#include "tell.h"
#include "install_dir.h"

/* The shim, seen from the folder that the command is in: in the build folder
 * of a checkout, or installed. */
static const char *const places[] = {"libcstrace.so",
				     "../lib/cstrace/libcstrace.so", NULL};
static const char *const sampler_places[] = {
	"libcstrace-sample.so", "../lib/cstrace/libcstrace-sample.so", NULL};

/* LD_PRELOAD splits at blanks and colons. */
static int is_plain(const char *path)
{
	return !strpbrk(path, " :\t\n");
}

/* Other names of the shim and the sampler (or ""), in one folder; returns the
 * shim's, NULL: none can be made. */
static char *link_make(const char *shim, char *sampler, int *lock)
{
	char folder[PATH_MAX], link[PATH_MAX + 32];

	*lock = cst_folder_make("link", 1, folder, sizeof(folder), NULL);
	if (*lock < 0)
		return NULL;
	snprintf(link, sizeof(link), "%s/libcstrace-sample.so", folder);
	if (*sampler && symlink(sampler, link) == 0)
		snprintf(sampler, PATH_MAX + 32, "%s", link);
	snprintf(link, sizeof(link), "%s/libcstrace.so", folder);
	if (symlink(shim, link) == 0)
		return strdup(link);
	cst_folder_remove(folder, *lock);
	return NULL;
}

void preload_unlink(const char *link, int lock)
{
	char folder[PATH_MAX + 32];

	if (!link)
		return;
	snprintf(folder, sizeof(folder), "%s", link);
	*strrchr(folder, '/') = '\0';
	cst_folder_remove(folder, lock);
}

/* ---- the program's own wishes ---------------------------------------------
 */

static Elf_Scn *section_dynamic(Elf *elf, GElf_Shdr *out)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, out) && out->sh_type == SHT_DYNAMIC)
			return section;
	return NULL;
}

/* gcc's ASan wants to be the first library of all: its name, if it is
 * needed, or "". */
static void runtime_of(Elf *elf, char *out, size_t size)
{
	GElf_Shdr header;
	Elf_Scn *section = section_dynamic(elf, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Dyn dyn;

	*out = '\0';
	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
		const char *name = dyn.d_tag == DT_NEEDED
					   ? elf_strptr(elf, header.sh_link,
							dyn.d_un.d_val)
					   : NULL;

		if (name && !strncmp(name, "libasan.so", 10))
			snprintf(out, size, "%s:", name);
	}
}

static void runtime_find(const char *program, char *out, size_t size)
{
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	*out = '\0';
	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		runtime_of(elf, out, size);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

int preload_make(const char *program, int with_sampler, char **value,
		 char **link, int *lock)
{
	const char *users = getenv("LD_PRELOAD");
	char shim[PATH_MAX], sampler[PATH_MAX + 32] = "", runtime[256];
	int status = install_dir_find("libcstrace.so", places, shim);

	if (!status && with_sampler)
		status = install_dir_find("libcstrace-sample.so",
					  sampler_places, sampler);
	if (status)
		return status;
	*link = is_plain(shim) ? NULL : link_make(shim, sampler, lock);
	if (!*link && !is_plain(shim))
		return failure("LD_PRELOAD cannot hold '%s': install cstrace "
			       "where no blank or colon is in the path",
			       shim);
	runtime_find(program, runtime, sizeof(runtime));
	if (asprintf(value, "%s%s%s%s%s%s", runtime, *link ? *link : shim,
		     *sampler ? ":" : "", sampler, users && *users ? ":" : "",
		     users ? users : "") < 0) {
		*value = NULL;
		return failure("out of memory");
	}
	return STATUS_OK;
}
