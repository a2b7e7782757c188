/* SPDX-License-Identifier: MIT
 *
 * A trace's file in the user's cache folder, for as long as the trace is
 * wanted.  It has a name, so that whoever dies leaves it, and is locked from
 * before it has that name on: one that is not locked was left.
 */
#ifndef ENGINE_CACHE_FILE_H
#define ENGINE_CACHE_FILE_H

/* A new file dir/name.cst, or name.2.cst, ... where that is taken.  *path, its
 * own, is the caller's.  Returns the file, or negative: it cannot be made so.
 */
int cache_file_open(const char *dir, const char *name, char **path);

/* The trace is not wanted any more.  NULL does nothing. */
void cache_file_remove(char *path);

#endif
