/* SPDX-License-Identifier: MIT
 *
 * A trace's file in the user's cache folder, which exists as long as the trace
 * is wanted.  After a crash the file remains under its name.  Its process holds
 * a lock on it from before it has the name: a file that nobody has locked is an
 * orphan.
 */
#ifndef ENGINE_CACHE_FILE_H
#define ENGINE_CACHE_FILE_H

/* Creates the file dir/name.cst, or name.2.cst and so on where that is taken,
 * and locks it.  Returns its descriptor, and in *path its path, which the
 * caller passes to cache_file_remove(); or a negative number if it cannot. */
int cache_file_open(const char *dir, const char *name, char **path);

/* Removes the file and frees path; NULL does nothing.  The caller closes the
 * descriptor. */
void cache_file_remove(char *path);

#endif
