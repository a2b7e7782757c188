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

enum { LINE_SIZE = 4096 };

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
		     const struct cst_plan_wish *wish)
{
	struct cst_planned *planned;
	struct cst_error err;
	char *kept;

	if (folder_make(p) != STATUS_OK)
		return STATUS_FAILED;
	if (array_room(&p->paths, &p->cap_paths, p->n_files + 1ull) < 0 ||
	    array_room(&p->plans, &p->cap_plans, p->n_files + 1ull) < 0)
		return failure("out of memory");
	planned = &p->plans[p->n_files];
	if (cst_plan_file(path, wish, p->folder, planned, &err) < 0)
		return is_wanted ? failure("%s", err.text) : STATUS_OK;
	kept = strdup(path);
	if (!kept)
		return failure("out of memory");
	p->paths[p->n_files++] = kept;
	p->n_patches += planned->n_patches;
	return STATUS_OK;
}

static int plan_libraries(struct patching *p, const char *path,
			  const char *modules, const struct cst_plan_wish *wish)
{
	struct libraries l;
	int status =
		libraries_init(&l, path) ? STATUS_OK : failure("out of memory");

	for (uint32_t i = 0; status == STATUS_OK && i < l.n; i++) {
		const struct library *one = &l.all[i];
		char real[PATH_MAX];
		struct cst_error err;
		int is_wanted;

		if (!one->path || one->is_shim || one->has_hooks ||
		    !realpath(one->path, real))
			continue;
		is_wanted = cst_plan_wants(real, modules, &err);
		if (is_wanted < 0)
			status = failure("%s", err.text);
		else if (is_wanted)
			status = plan_file(p, real, 0, wish);
	}
	libraries_release(&l);
	return status;
}

int patching_prepare(struct patching *p, const char *path, const char *modules,
		     const struct cst_plan_wish *wish)
{
	char real[PATH_MAX];
	int status;

	*p = (struct patching){0};
	if (!realpath(path, real))
		return failure("cannot read '%s': %s", path, strerror(errno));
	status = plan_file(p, real, 1, wish);
	return status == STATUS_OK ? plan_libraries(p, real, modules, wish)
				   : status;
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

void patching_tell(const struct patching *p, const char *program)
{
	char text[LINE_SIZE];

	if (!p->n_files)
		return;
	cst_plan_text(p->plans, (const char *const *)p->paths, p->n_files, text,
		      sizeof(text));
	fprintf(stderr, "cstrace: patched %s\n", text);
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
		free(p->paths[i]);
	free(p->paths);
	free(p->plans);
	free(p->folder);
	*p = (struct patching){0};
}
