/* SPDX-License-Identifier: MIT
 *
 * Files that cstrace itself wrote, and may replace without asking the user.
 */
#ifndef ENGINE_OURS_H
#define ENGINE_OURS_H

#include "base/error.h"

/* Returns whether there is no regular file at path, or an empty one. */
int ours_is_nothing(const char *path);

#endif
