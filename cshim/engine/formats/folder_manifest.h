/* SPDX-License-Identifier: MIT
 *
 * The hidden file in a folder that lists the others: what cstrace wrote, and
 * may remove again.
 */
#ifndef ENGINE_FOLDER_MANIFEST_H
#define ENGINE_FOLDER_MANIFEST_H

#include "base/bytes.h"

#define MARK_NAME ".cstrace"

/* Begin a list in text, and add a name, which has no newline.  They set
 * text->failed when out of memory. */
void manifest_begin(struct bytes *text);
void manifest_add(struct bytes *text, const char *name);

/* Returns 0 if the folder open at dir has a list, and nothing else but regular
 * files that are in the list; CST_EXISTS if not; or CST_MEMORY. */
int manifest_check(int dir);

/* Removes the folder and what is in it, if that is regular files only. */
void manifest_remove(const char *path);

#endif
