/* SPDX-License-Identifier: MIT
 *
 * Areas in core files: a program that ran with CSTRACE_FLIGHT has its newest
 * records in memory, and so in its core.
 */
#ifndef ENGINE_COREAREA_H
#define ENGINE_COREAREA_H

#include "base/error.h"

/* Returns whether fd is a core file. */
int corearea_is(int fd);

/* Copies the area in the core file fd to a file without a name, which
 * rawarea_load() reads and the caller closes.  path is for messages.  Returns
 * the file's descriptor or a negative status. */
int corearea_open(int fd, const char *path, struct cst_error *err);

#endif
