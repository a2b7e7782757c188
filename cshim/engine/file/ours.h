/* SPDX-License-Identifier: MIT
 *
 * Files that cstrace itself wrote, and may replace without being told to.
 */
#ifndef ENGINE_OURS_H
#define ENGINE_OURS_H

#include "base/error.h"

/* Whether the file at path begins as one in any of our formats, is empty, or
 * is not there.  format is that of the new one, or NULL for path's ending. */
int ours_is(const char *path, const char *format);
/* Whether there is no regular file at path, or an empty one. */
int ours_is_nothing(const char *path);

#endif
