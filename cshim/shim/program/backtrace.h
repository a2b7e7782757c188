/* SPDX-License-Identifier: MIT
 *
 * The calling thread's open calls, for the program (cstrace.h).
 */
#ifndef SHIM_BACKTRACE_H
#define SHIM_BACKTRACE_H

#include "cstrace/cstrace.h"

/* The functions of struct cstrace_shim; async-signal-safe. */
int backtrace_get(struct cstrace_open *calls, int n);
void backtrace_print(int fd);
int backtrace_name(const void *address, char *name, size_t size);

#endif
