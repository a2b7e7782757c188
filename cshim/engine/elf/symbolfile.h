/* SPDX-License-Identifier: MIT
 *
 * Where the symbols of a module are that was traced elsewhere: in the file
 * itself or in its separate debug file, known by the build-id and nothing
 * else.
 */
#ifndef ENGINE_SYMBOLFILE_H
#define ENGINE_SYMBOLFILE_H

#include <limits.h>

/* Files, and folders that are laid out as gdb's debug-file-directory or hold
 * the files themselves. */
struct symbol_places {
	const char *const *all;
	int n;
};

struct symbol_file {
	char path[PATH_MAX];  /* "": none was found */
	char other[PATH_MAX]; /* of that name, but another build; or "" */
};

/* In the places, at the module's path, in /usr/lib/debug; the first with debug
 * information, else the first with symbols. */
void symbol_file_find(const char *path, const char *build_id,
		      const struct symbol_places *places,
		      struct symbol_file *out);

#endif
