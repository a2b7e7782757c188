/* SPDX-License-Identifier: MIT
 *
 * Files that cstrace itself wrote, and may replace without asking the user.
 */
#ifndef ENGINE_OURS_H
#define ENGINE_OURS_H

#include "base/error.h"

/* Returns whether the file at path begins as one in any of cstrace's formats,
 * is empty, or does not exist.  format is that of the new file, or NULL for
 * path's ending. */
int ours_is(const char *path, const char *format);
/* Returns whether there is no regular file at path, or an empty one. */
int ours_is_nothing(const char *path);

#endif
