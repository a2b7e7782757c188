/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plans go into a folder of their own, by build-id, where the shim finds them.
 */
#include "patching.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "check/check_libraries.h"
#include "tell.h"

/* Where the distribution's libraries are. */
static const char *const system_folders[] = {
	"/lib/",     "/lib32/",	    "/lib64/",	   "/libx32/",
	"/usr/lib/", "/usr/lib32/", "/usr/lib64/", NULL};

static int is_systems(const char *path)
{
	for (const char *const *f = system_folders; *f; f++)
		if (!strncmp(path, *f, strlen(*f)))
			return 1;
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- planning --------------------------------------------------------------
 */

static int folder_make(struct patching *p)
{
	const char *base = getenv("TMPDIR");

	if (p->folder)
		return STATUS_OK;
	if (asprintf(&p->folder, "%s/cstrace-plans-XXXXXX",
		     base && *base ? base : "/tmp") < 0) {
		p->folder = NULL;
		return failure("out of memory");
	}
	if (mkdtemp(p->folder))
		return STATUS_OK;
	failure("cannot make a folder '%s': %s", p->folder, strerror(errno));
	free(p->folder);
	p->folder = NULL;
	return STATUS_FAILED;
}

/* is_wanted: the user named it, so that nothing is left out without a word. */
static int plan_file(struct patching *p, const char *path, int is_wanted,
		     const struct plan_wish *wish)
{
	struct patched_file *f;
	struct cst_error err;

	if (folder_make(p) != STATUS_OK)
		return STATUS_FAILED;
	if (array_room(&p->files, &p->cap_files, p->n_files + 1ull) < 0)
		return failure("out of memory");
	f = &p->files[p->n_files];
	*f = (struct patched_file){.path = strdup(path)};
	if (!f->path)
		return failure("out of memory");
	if (cst_plan_file(path, wish->functions, wish->min_size, p->folder,
			  &f->planned, &err) == 0) {
		p->n_patches += f->planned.n_patches;
		p->n_files++;
		return STATUS_OK;
	}
	free(f->path);
	return is_wanted ? failure("%s", err.text) : STATUS_OK;
}

static int plan_libraries(struct patching *p, const char *path,
			  const struct plan_wish *wish)
{
	struct libraries l;
	int status =
		libraries_init(&l, path) ? STATUS_OK : failure("out of memory");

	for (uint32_t i = 0; status == STATUS_OK && i < l.n; i++) {
		const struct library *one = &l.all[i];
		char real[PATH_MAX];

		if (!one->path || one->is_shim || one->is_libc ||
		    one->has_hooks || !realpath(one->path, real) ||
		    is_systems(real))
			continue;
		status = plan_file(p, real, 0, wish);
	}
	libraries_release(&l);
	return status;
}

int patching_prepare(struct patching *p, const char *path,
		     const struct plan_wish *wish)
{
	char real[PATH_MAX];
	int status;

	*p = (struct patching){0};
	if (!realpath(path, real))
		return failure("cannot read '%s': %s", path, strerror(errno));
	status = plan_file(p, real, 1, wish);
	return status == STATUS_OK ? plan_libraries(p, real, wish) : status;
}

/* ---- telling ---------------------------------------------------------------
 */

/* What the shim could not do: lines of an errno, a path and a reason. */
static void tell_refused(const struct patching *p, const char *program)
{
	char path[PATH_MAX], line[PATH_MAX + 256];
	FILE *in;

	if (snprintf(path, sizeof(path), "%s/refused", p->folder) >=
	    (int)sizeof(path))
		return;
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in)) {
		char *object = strchr(line, '\t'), *why;
		int code = atoi(line);

		why = object ? strchr(object + 1, '\t') : NULL;
		if (!why)
			continue;
		*object++ = *why++ = '\0';
		why[strcspn(why, "\n")] = '\0';
		if (code)
			failure("'%s' was not patched: %s: %s",
				*object ? object : program, why,
				strerror(code));
		else
			failure("'%s' was not patched: %s",
				*object ? object : program, why);
	}
	if (in)
		fclose(in);
}

static void tell_declined(const struct patching *p)
{
	uint32_t n[CST_PLANNED_REASONS] = {0};
	const char *before = "; left out ";

	for (uint32_t i = 0; i < p->n_files; i++)
		for (uint32_t r = 0; r < CST_PLANNED_REASONS; r++)
			n[r] += p->files[i].planned.n_declined[r];
	for (uint32_t r = 0; r < CST_PLANNED_REASONS; r++) {
		if (!n[r])
			continue;
		fprintf(stderr, "%s%u as %s %s", before, n[r],
			n[r] == 1 ? "it" : "each", cst_plan_reason(r));
		before = ", ";
	}
}

void patching_tell(const struct patching *p, const char *program)
{
	uint32_t n_missed = 0, n_ends = 0, n = 0;

	if (!p->n_files)
		return;
	fputs("cstrace: patched ", stderr);
	for (uint32_t i = 0; i < p->n_files; i++) {
		const struct cst_planned *f = &p->files[i].planned;

		if (!f->n_functions && i)
			continue;
		fprintf(stderr, "%s%u %s of %s", n++ ? ", " : "",
			f->n_functions,
			f->n_functions == 1 ? "function" : "functions",
			base_name(p->files[i].path));
		n_missed += f->n_missed;
		n_ends += f->n_exits + f->n_missed;
	}
	if (n_missed)
		fprintf(stderr, "; %u of %u ends are estimated (~)", n_missed,
			n_ends);
	tell_declined(p);
	fputc('\n', stderr);
	if (p->folder)
		tell_refused(p, program);
}

/* ---- the end ---------------------------------------------------------------
 */

static void folder_remove(const struct patching *p)
{
	char path[PATH_MAX];
	DIR *folder = opendir(p->folder);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (snprintf(path, sizeof(path), "%s/%s", p->folder,
			     entry->d_name) < (int)sizeof(path) &&
		    entry->d_name[0] != '.')
			unlink(path);
	if (folder)
		closedir(folder);
	rmdir(p->folder);
}

void patching_release(struct patching *p)
{
	if (p->folder)
		folder_remove(p);
	for (uint32_t i = 0; i < p->n_files; i++)
		free(p->files[i].path);
	free(p->files);
	free(p->folder);
	*p = (struct patching){0};
}
