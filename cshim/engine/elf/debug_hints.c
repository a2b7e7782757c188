/* SPDX-License-Identifier: MIT
 *
 * Keeps the separate debug files that gdb reported, by the object file that
 * they belong to.
 */
#include "elf/debug_hints.h"
#include "base/array.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct hint {
	char *path, *debug_file;
};

void hints_release(struct hints *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		free(h->all[i].path);
		free(h->all[i].debug_file);
	}
	free(h->all);
	*h = (struct hints){0};
}

int hints_is_same(const char *a, const char *b)
{
	struct stat x, y;

	if (!strcmp(a, b))
		return 1;
	return !strcmp(text_last_name(a), text_last_name(b)) && !stat(a, &x) &&
	       !stat(b, &y) && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* The one of this path, or a new one; NULL: out of memory. */
static struct hint *hint_of(struct hints *h, const char *path)
{
	struct hint *hint;

	for (uint32_t i = 0; i < h->n; i++)
		if (!strcmp(h->all[i].path, path))
			return &h->all[i];
	if (array_room(&h->all, &h->cap, h->n + 1ull) < 0)
		return NULL;
	hint = &h->all[h->n];
	*hint = (struct hint){.path = strdup(path)};
	if (!hint->path)
		return NULL;
	h->n++;
	return hint;
}

int hints_put(struct hints *h, const char *path, const char *debug_file)
{
	struct hint *hint = hint_of(h, path);
	char *copy = hint ? strdup(debug_file) : NULL;

	if (!copy)
		return 0;
	free(hint->debug_file);
	hint->debug_file = copy;
	return 1;
}

const char *hints_get(const struct hints *h, const char *path)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (h->all[i].debug_file && hints_is_same(h->all[i].path, path))
			return h->all[i].debug_file;
	return NULL;
}
