/* SPDX-License-Identifier: MIT
 *
 * The objects that are patched though they have no debug information, so that
 * nobody knows of values of their calls.
 */
#ifndef SHIM_BARE_H
#define SHIM_BARE_H

#include <stdint.h>

/* The object at that place of the table of patched ones (CST_MAX_PATCHED) is
 * one, from start on; size 0: it is none. */
void bare_set(uint64_t place, uint64_t start, uint64_t size);

/* Returns whether the function is one of theirs.  Async-signal-safe. */
int bare_has(uint64_t function);

#endif
