/* SPDX-License-Identifier: MIT
 *
 * Names of functions from the symbol tables of the files that are mapped,
 * without memory of the heap.
 */
#ifndef SHIM_SYMBOLS_H
#define SHIM_SYMBOLS_H

#include <stdint.h>

enum { SYMBOL_NAME_MAX = 240 };

struct symbol {
	uint64_t offset; /* of the address from the function's start */
	char name[SYMBOL_NAME_MAX];   /* "" if it is not known; it may be cut */
	char module[SYMBOL_NAME_MAX]; /* the file's name without its path */
};

/* Looks for the function that the address is in.  Returns 1 if it has a name,
 * else 0; also while another call of this function goes on, which a signal
 * handler may have interrupted.  Async-signal-safe. */
int symbols_find(uint64_t address, struct symbol *out);

/* Forgets what was found: code was unmapped. */
void symbols_forget(void);

/* Returns the part of a path behind its last slash. */
const char *symbols_base_name(const char *path);

/* Writes the readable form of a C++ function's name, without parameters, into
 * out[size].  Returns its length, or 0 if the name is none that it knows. */
uint32_t symbols_demangle(const char *name, char *out, uint32_t size);

#endif
