/* SPDX-License-Identifier: MIT */
#ifndef SHIM_EXEC_H
#define SHIM_EXEC_H

/* A program is about to be run with this environment (NULL: an empty one). */
void exec_enters(const char *path, char **environment);

#endif
