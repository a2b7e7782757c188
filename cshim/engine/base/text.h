/* SPDX-License-Identifier: MIT
 *
 * Parts of texts.
 */
#ifndef ENGINE_TEXT_H
#define ENGINE_TEXT_H

#include <string.h>

/* Returns whether text begins with `begin`. */
static inline int text_begins(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

/* Returns what of the path is behind its last slash; all of it if there is
 * none. */
static inline const char *text_last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
