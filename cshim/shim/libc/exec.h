/* SPDX-License-Identifier: MIT */
#ifndef SHIM_EXEC_H
#define SHIM_EXEC_H

/* Reports that a program is about to be executed with this environment (NULL:
 * an empty one). */
void exec_enters(const char *path, char **environment);

#endif
