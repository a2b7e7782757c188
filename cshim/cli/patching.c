/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plans go into a folder of their own, by build-id, where the shim finds them,
 * or asks for them by a pipe.
 */
#include "patching.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "check/check_libraries.h"
#include "check/preflight.h"
#include "tell.h"

enum { LINE_SIZE = 4096 };

/* ---- planning --------------------------------------------------------------
 */

/* The pipe is open for writing, too: no writer's end is its end. */
static int pipe_make(struct patching *p)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/wanted", p->folder) >=
		    (int)sizeof(path) ||
	    mkfifo(path, 0600))
		return failure("cannot make a pipe in '%s': %s", p->folder,
			       strerror(errno));
	p->wanted = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return p->wanted >= 0
		       ? STATUS_OK
		       : failure("cannot open '%s': %s", path, strerror(errno));
}

int patching_open(struct patching *p, const struct patching_wish *wish)
{
	char folder[PATH_MAX];
	struct cst_error err;

	*p = (struct patching){.wish = *wish, .wanted = -1, .lock = -1};
	p->lock = cst_folder_make("plans", 0, folder, sizeof(folder), &err);
	if (p->lock < 0)
		return failure("%s", err.text);
	p->folder = strdup(folder);
	if (p->folder)
		return pipe_make(p);
	cst_folder_remove(folder, p->lock);
	return failure("out of memory");
}

/* The plan of the file at path, or NULL. */
static struct cst_planned *plan_of(const struct patching *p, const char *path)
{
	for (uint32_t i = 0; i < p->n_files; i++)
		if (!strcmp(p->paths[i], path))
			return &p->plans[i];
	return NULL;
}

static int is_planned(const struct patching *p, const char *path)
{
	return plan_of(p, path) != NULL;
}

/* Returns where it goes, for the plan of the file at path, which has none yet;
 * NULL: out of memory. */
static struct cst_planned *add_plan(struct patching *p, const char *path)
{
	char *kept = strdup(path);

	if (!kept ||
	    array_room(&p->paths, &p->cap_paths, p->n_files + 1ull) < 0 ||
	    array_room(&p->plans, &p->cap_plans, p->n_files + 1ull) < 0) {
		free(kept);
		failure("out of memory");
		return NULL;
	}
	p->paths[p->n_files] = kept;
	p->plans[p->n_files] = (struct cst_planned){0};
	return &p->plans[p->n_files++];
}

/* is_wanted: the user named it, so that nothing is left out without a word. */
static int plan_file(struct patching *p, const char *path, int is_wanted)
{
	struct cst_plan_wish wish = p->wish.plan;
	struct cst_planned planned, *kept;
	struct cst_error err;

	if (is_planned(p, path))
		return STATUS_OK;
	if (p->wish.has_border)
		wish.calls = CST_CALLS_TOO;
	if (cst_plan_takes_long(path, &wish))
		failure("the plan of %s takes a while, once",
			text_last_name(path));
	if (cst_plan_file(path, &wish, p->folder, &planned, &err) < 0)
		return is_wanted ? failure("%s", err.text) : STATUS_OK;
	kept = add_plan(p, path);
	if (!kept)
		return STATUS_FAILED;
	*kept = planned;
	p->n_patches += planned.n_patches;
	return STATUS_OK;
}

/* Is it the shim, or the sampler? */
static int is_ours(const char *path)
{
	return text_begins(text_last_name(path), "libcstrace");
}

static int is_library_wanted(const struct patching *p, const char *path)
{
	struct cst_error err;

	return !is_ours(path) &&
	       cst_plan_wants(path, p->wish.modules, &err) > 0;
}

/* What has hooks is traced by these. */
static int needs_patches(const struct patching *p, const char *path)
{
	return p->wish.is_of_all || !preflight_is_hooked(path);
}

static int plan_libraries(struct patching *p, const char *path)
{
	struct libraries l;
	int status =
		libraries_init(&l, path) ? STATUS_OK : failure("out of memory");

	for (uint32_t i = 0; status == STATUS_OK && i < l.n; i++) {
		const struct library *one = &l.all[i];
		char real[PATH_MAX];

		if (one->path && realpath(one->path, real) &&
		    is_library_wanted(p, real) && needs_patches(p, real))
			status = plan_file(p, real, 0);
	}
	libraries_release(&l);
	return status;
}

int patching_prepare(struct patching *p, const char *path)
{
	struct cst_error err;
	char real[PATH_MAX];
	int status;

	if (!realpath(path, real))
		return failure("cannot read '%s': %s", path, strerror(errno));
	if (cst_plan_wants(real, p->wish.modules, &err) < 0)
		return failure("%s", err.text);
	p->name = strdup(text_last_name(path));
	if (!p->name)
		return failure("out of memory");
	status = needs_patches(p, real) ? plan_file(p, real, 1) : STATUS_OK;
	return status == STATUS_OK ? plan_libraries(p, real) : status;
}

/* ---- the border ------------------------------------------------------------
 */

static int add_caller(struct patching *p, const char *path)
{
	char *kept = strdup(path);

	if (!kept ||
	    array_room(&p->callers, &p->cap_callers, p->n_callers + 1ull) < 0) {
		free(kept);
		return failure("out of memory");
	}
	p->callers[p->n_callers++] = kept;
	return STATUS_OK;
}

static int is_caller(const struct patching *p, const char *path)
{
	for (uint32_t i = 0; i < p->n_callers; i++)
		if (!strcmp(p->callers[i], path))
			return 1;
	return 0;
}

/* Plans calls into the n files at paths.  Returns an exit code. */
static int plan_border(struct patching *p, const char *const *paths, uint32_t n)
{
	const struct cst_plan_wish wish = {
		.callers = (const char *const *)p->callers,
		.n_callers = p->n_callers,
	};
	auto_free struct cst_planned *plans = calloc(n + 1ull, sizeof(*plans));
	struct cst_planned *kept;
	struct cst_error err;

	if (!plans)
		return failure("out of memory");
	if (cst_plan_border(&wish, paths, n, p->folder, plans, &err) < 0)
		return failure("%s", err.text);
	for (uint32_t i = 0; i < n; i++) {
		if (!*plans[i].id)
			continue;
		kept = add_plan(p, paths[i]);
		if (!kept)
			return STATUS_FAILED;
		*kept = plans[i];
		p->n_patches += plans[i].n_patches;
	}
	return STATUS_OK;
}

/* Plans the callers' own stubs, for what the border leaves out. */
static int plan_stubs(struct patching *p)
{
	for (uint32_t i = 0; i < p->n_callers; i++) {
		struct cst_plan_wish wish = {.calls = CST_CALLS_ALONE};
		struct cst_planned planned, *kept = plan_of(p, p->callers[i]);
		struct cst_error err;

		if (kept) {
			wish = p->wish.plan;
			wish.calls = CST_CALLS_TOO;
		}
		if (cst_plan_file(p->callers[i], &wish, p->folder, &planned,
				  &err) < 0)
			continue; /* nothing of it is patched, then */
		if (!kept && planned.n_patches)
			kept = add_plan(p, p->callers[i]);
		if (kept)
			*kept = planned;
	}
	return STATUS_OK;
}

int patching_add_border(struct patching *p, const char *const *paths,
			uint32_t n)
{
	char(*reals)[PATH_MAX] = calloc(n + 1ull, sizeof(*reals));
	const char **wanted = calloc(n + 1ull, sizeof(*wanted));
	int status = reals && wanted ? STATUS_OK : failure("out of memory");
	uint32_t n_wanted = 0;

	for (uint32_t i = 0; status == STATUS_OK && i < n; i++)
		if (realpath(paths[i], reals[i]) && !is_caller(p, reals[i]) &&
		    !is_planned(p, reals[i]))
			wanted[n_wanted++] = reals[i];
	if (status == STATUS_OK)
		status = plan_border(p, wanted, n_wanted);
	if (status == STATUS_OK)
		status = plan_stubs(p);
	free(wanted);
	free(reals);
	return status;
}

/* Is it a library with hooks, or one that is patched? */
static int is_traced(const struct patching *p, const struct library *one,
		     const char *real)
{
	return one->has_hooks || is_planned(p, real);
}

/* Notes which of the libraries are traced. */
static int add_callers(struct patching *p, const struct libraries *l)
{
	int status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < l->n; i++) {
		const struct library *one = &l->all[i];
		char real[PATH_MAX];

		if (one->path && !one->is_shim && realpath(one->path, real) &&
		    is_traced(p, one, real))
			status = add_caller(p, real);
	}
	return status;
}

/* Plans calls into the others. */
static int plan_others(struct patching *p, const struct libraries *l)
{
	auto_free const char **paths = calloc(l->n + 1ull, sizeof(*paths));
	uint32_t n = 0;

	if (!paths)
		return failure("out of memory");
	for (uint32_t i = 0; i < l->n; i++)
		if (l->all[i].path && !l->all[i].is_shim)
			paths[n++] = l->all[i].path;
	return patching_add_border(p, paths, n);
}

static int has_border(const struct patching *p)
{
	for (uint32_t i = 0; i < p->n_files; i++)
		if (p->plans[i].n_stubs ||
		    (p->plans[i].is_border && p->plans[i].n_patches))
			return 1;
	return 0;
}

int patching_border(struct patching *p, const char *path)
{
	struct libraries l;
	char real[PATH_MAX];
	int status;

	if (!realpath(path, real))
		return failure("cannot read '%s': %s", path, strerror(errno));
	if (!libraries_init(&l, real))
		return failure("out of memory");
	status = is_planned(p, real) || preflight_is_hooked(real)
			 ? add_caller(p, real)
			 : STATUS_OK;
	if (status == STATUS_OK)
		status = add_callers(p, &l);
	if (status == STATUS_OK && p->n_callers)
		status = plan_others(p, &l);
	libraries_release(&l);
	if (status == STATUS_OK && !has_border(p))
		failure("no calls into libraries are seen: no function of one "
			"can be patched that a traced file calls");
	return status;
}

int patching_add(struct patching *p, const char *path, int is_program)
{
	char real[PATH_MAX];
	int status;

	if (!realpath(path, real) || access(real, R_OK) < 0)
		snprintf(real, sizeof(real), "%s", path);
	if (!is_program && !is_library_wanted(p, real))
		return STATUS_OK;
	status = plan_file(p, real, is_program);
	return status == STATUS_OK && p->wish.has_border ? add_caller(p, real)
							 : status;
}

int patching_has(const struct patching *p, const char *path)
{
	char real[PATH_MAX];

	for (uint32_t i = 0; realpath(path, real) && i < p->n_files; i++)
		if (!strcmp(p->paths[i], real))
			return p->plans[i].n_patches > 0;
	return 0;
}

int patching_add_caller(struct patching *p, const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) ? add_caller(p, real) : STATUS_OK;
}

/* Its callers' stubs stay as they are: they do not import from it. */
static int plan_later(struct patching *p, const char *path)
{
	return is_planned(p, path) ? STATUS_OK : plan_border(p, &path, 1);
}

void patching_answer_no_more(struct patching *p)
{
	close(p->wanted);
	p->wanted = -1;
}

/* ---- answering -------------------------------------------------------------
 */

static int is_in_systems_path(const char *path)
{
	static const char *const folders[] = {"/bin/",	       "/sbin/",
					      "/usr/bin/",     "/usr/sbin/",
					      "/usr/libexec/", "/usr/games/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (text_begins(path, folders[i]))
			return 1;
	return 0;
}

/* Is it a program that the recorded one runs: the user's own, or one with the
 * name of that at its begin, as git-remote-https has it of git? */
static int is_program_wanted(const struct patching *p, const char *path)
{
	if (cst_is_launcher(path))
		return 0;
	return p->wish.is_of_all ||
	       (p->name && text_begins(text_last_name(path), p->name)) ||
	       (!is_in_systems_path(path) && is_library_wanted(p, path));
}

/* The shim takes it that there is no plan. */
static void answer_none(const struct patching *p, const char *build_id)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s.none", p->folder, build_id) >=
	    (int)sizeof(path))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
}

/* The line may be from any process of the user's. */
static void answer(struct patching *p, char *line)
{
	size_t n = strspn(line + 1, "0123456789abcdef");
	char *path = line + 1 + n, plan[PATH_MAX];

	if (!n || (*line != 'p' && *line != 'l') || *path != ' ')
		return;
	*path++ = '\0';
	if (*path == '/' && needs_patches(p, path)) {
		if (!p->wish.has_hooks &&
		    (*line == 'p' ? is_program_wanted(p, path)
				  : is_library_wanted(p, path)))
			plan_file(p, path, 0);
		else if (p->n_callers && *line == 'l')
			plan_later(p, path);
	}
	if (snprintf(plan, sizeof(plan), "%s/%s.plan", p->folder, line + 1) >=
		    (int)sizeof(plan) ||
	    access(plan, R_OK))
		answer_none(p, line + 1);
}

void patching_answer(void *arg)
{
	struct patching *p = arg;
	ssize_t n;

	while ((n = read(p->wanted, p->line + p->n_line,
			 sizeof(p->line) - 1 - p->n_line)) > 0) {
		char *line = p->line, *end;

		p->line[p->n_line + (size_t)n] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			answer(p, line);
		}
		p->n_line = strlen(line);
		memmove(p->line, line, p->n_line);
		if (p->n_line + 1 == sizeof(p->line))
			p->n_line = 0; /* no line of the shim's */
	}
}

/* ---- telling ---------------------------------------------------------------
 */

static void forget(struct patching *p, const char *path)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_files; i++) {
		if (!strcmp(p->paths[i], path)) {
			free(p->paths[i]);
			continue;
		}
		p->paths[n] = p->paths[i];
		p->plans[n++] = p->plans[i];
	}
	p->n_files = n;
}

/* What the shim could not do: lines of an errno, a path and a reason. */
static void tell_refused(struct patching *p, const char *program)
{
	char path[PATH_MAX], line[PATH_MAX + 256], real[PATH_MAX];
	FILE *in;

	if (!realpath(program, real))
		*real = '\0';
	if (snprintf(path, sizeof(path), "%s/refused", p->folder) >=
	    (int)sizeof(path))
		return;
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in)) {
		char *object = strchr(line, '\t'), *why;
		const char *name;
		int code = atoi(line);

		why = object ? strchr(object + 1, '\t') : NULL;
		if (!why)
			continue;
		*object++ = *why++ = '\0';
		why[strcspn(why, "\n")] = '\0';
		forget(p, object);
		name = *object && strcmp(object, real) ? object : program;
		if (code)
			failure("'%s' was not patched: %s: %s", name, why,
				strerror(code));
		else
			failure("'%s' was not patched: %s", name, why);
	}
	if (in)
		fclose(in);
}

void patching_tell(struct patching *p, const char *program)
{
	char text[LINE_SIZE];

	if (p->folder)
		tell_refused(p, program);
	if (!p->n_files)
		return;
	cst_plan_text(p->plans, (const char *const *)p->paths, p->n_files, text,
		      sizeof(text));
	fprintf(stderr, "cstrace: patched %s\n", text);
}

/* ---- the end ---------------------------------------------------------------
 */

void patching_release(struct patching *p)
{
	if (p->folder)
		cst_folder_remove(p->folder, p->lock);
	if (p->wanted > 0)
		close(p->wanted);
	for (uint32_t i = 0; i < p->n_files; i++)
		free(p->paths[i]);
	for (uint32_t i = 0; i < p->n_callers; i++)
		free(p->callers[i]);
	free(p->callers);
	free(p->paths);
	free(p->plans);
	free(p->folder);
	free(p->name);
	*p = (struct patching){0};
}
