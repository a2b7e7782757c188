/* SPDX-License-Identifier: MIT
 *
 * Programs that the traced one runs.
 */
#ifndef SHIM_EXEC_H
#define SHIM_EXEC_H

/* Finds libc's functions that execute, as the program starts. */
void exec_begin(char **environment);

/* Counts the program at path, which is about to be executed with this
 * environment (NULL: an empty one), if it will run without the shim. */
void exec_enters(const char *path, char **environment);

#endif
