/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looks, before a program is run, for what makes recording it impossible, and
 * prints the verdict of `cstrace check` then.  It looks only at what costs no
 * noticeable time.
 */
#include "check/preflight.h"
#include "check/check_file.h"
#include "check/check_libraries.h"
#include "tell.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A script's interpreter has no hooks; what the script runs may have them. */
int preflight_is_script(const char *path)
{
	char name[2];

	return preflight_interpreter(path, name, sizeof(name));
}

int preflight_interpreter(const char *path, char *name, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char head[128] = "", *word, *rest;
	int is_one = fd >= 0 && read(fd, head, sizeof(head) - 1) >= 2 &&
		     !memcmp(head, "#!", 2);

	if (fd >= 0)
		close(fd);
	if (!is_one)
		return 0;
	head[strcspn(head, "\n")] = '\0';
	word = strtok_r(head + 2, " \t", &rest);
	if (word && !strcmp(basename(word), "env"))
		do
			word = strtok_r(NULL, " \t", &rest);
		while (word && (*word == '-' || strchr(word, '=')));
	word = word ? basename(word) : "";
	if (!*word || word[strspn(word, plain)])
		word = "INTERPRETER";
	snprintf(name, size, "%s", word);
	return 1;
}

static int has_library_with_hooks(const char *path)
{
	struct libraries l;
	int found = !libraries_init(&l, path); /* no memory: say nothing */

	for (uint32_t i = 0; i < l.n && !found; i++)
		found = l.all[i].has_hooks || l.all[i].is_shim;
	libraries_release(&l);
	return found;
}

/* NULL: nothing is known against it.  *can_be_patched: it could do without
 * hooks. */
static const char *find_obstacle(const struct check_file *f, const char *path,
				 int *can_be_patched)
{
	if (f->kind != FILE_PROGRAM || f->hooks == HOOKS_SHIM ||
	    f->hooks == HOOKS_ARCHIVE)
		return NULL;
	if (!f->is_dynamic && f->hooks == HOOKS_OWN)
		return "it is static: link libcstrace.a into it (-lcstrace)";
	if (!f->is_dynamic && f->is_stripped)
		return "it is static and stripped";
	if (f->hooks == HOOKS_OWN)
		return "it defines the hooks itself; gdb can trace it";
	if (f->hooks == HOOKS_IMPORTED || has_library_with_hooks(path) ||
	    (f->has_words && f->is_dynamic))
		return NULL;
	if (f->has_words)
		return "it is static: link libcstrace.a into it (-lcstrace)";
	if (!f->is_dynamic)
		return "it is static and has no hooks: " PREFLIGHT_NO_LOADER
		       "; " PREFLIGHT_STATIC_MEND;
	*can_be_patched = 1;
	if (f->loads_more)
		return "it has no -finstrument-functions hooks itself; what it "
		       "loads with dlopen() may";
	return "it has no hooks: compile it with gcc or clang -g "
	       "-finstrument-functions";
}

int preflight_tell(const char *path, const char *name, const char *patching)
{
	struct check_file f = {0};
	const char *why = NULL;
	int can_be_patched = 0, got;

	if (preflight_is_script(path))
		return 0;
	got = check_file_open(&f, path, NULL, &why);
	if (got > 0)
		why = find_obstacle(&f, path, &can_be_patched);
	if (got >= 0 && why)
		failure(can_be_patched
				? "calls of '%s' will not be recorded: %s (%s)"
				: "calls of '%s' will not be recorded: %s",
			name, why, patching);
	check_file_close(&f);
	return got >= 0 && why;
}

static enum preflight_hooks hooks_of(const struct check_file *f,
				     const char *path)
{
	if (f->hooks != HOOKS_NONE || f->has_words ||
	    has_library_with_hooks(path))
		return PREFLIGHT_HOOKS;
	return f->is_dynamic ? PREFLIGHT_NONE : PREFLIGHT_UNKNOWN;
}

enum preflight_hooks preflight_hooks(const char *path)
{
	enum preflight_hooks found = PREFLIGHT_UNKNOWN;
	struct check_file f = {0};
	const char *why = NULL;

	if (preflight_is_script(path))
		return PREFLIGHT_UNKNOWN;
	if (check_file_open(&f, path, NULL, &why) > 0 && f.kind == FILE_PROGRAM)
		found = hooks_of(&f, path);
	check_file_close(&f);
	return found;
}

int preflight_is_static(const char *path)
{
	struct check_file f = {0};
	const char *why = NULL;
	int is_static = !preflight_is_script(path) &&
			check_file_open(&f, path, NULL, &why) > 0 &&
			f.kind == FILE_PROGRAM && !f.is_dynamic;

	check_file_close(&f);
	return is_static;
}

int preflight_is_hooked(const char *path)
{
	struct check_file f = {0};
	const char *why = NULL;
	int is_hooked = check_file_open(&f, path, NULL, &why) > 0 &&
			(f.hooks != HOOKS_NONE || f.has_words);

	check_file_close(&f);
	return is_hooked;
}
