/* SPDX-License-Identifier: MIT
 *
 * The hidden file in a folder that lists the others: what we wrote, and may
 * take away again.
 */
#ifndef ENGINE_FOLDER_MANIFEST_H
#define ENGINE_FOLDER_MANIFEST_H

#include "base/bytes.h"

#define MARK_NAME ".cstrace"

/* A list that is being made; names have no newline. */
void manifest_begin(struct bytes *text);
void manifest_add(struct bytes *text, const char *name);

/* Everything in the folder is a plain file that its mark lists. */
int manifest_owns(int dir);

/* Remove the folder and what is in it, if that is plain files only. */
void manifest_remove(const char *path);

#endif
