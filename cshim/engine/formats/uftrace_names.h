/* SPDX-License-Identifier: MIT
 *
 * The names in a folder for uftrace: a memory map, and a symbol table for each
 * object file in it.
 */
#ifndef ENGINE_UFTRACE_NAMES_H
#define ENGINE_UFTRACE_NAMES_H

#include "formats/folder.h"
#include "trace/loader.h"

#define UFTRACE_SESSION "0000000000000001"

/* Writes the map and the tables.  *addrs gets the address that each function
 * has in that map, in an array that the caller frees.  Returns 0 or a negative
 * status. */
int uftrace_names_write(const struct cst_trace *t, struct folder *folder,
			uint64_t **addrs, struct cst_error *err);

/* Appends text as one word of ASCII letters, digits, ".", "_", "+" and "-",
 * with
 * "_" in place of all else, cut at 200 bytes; "" becomes "_".  Returns 1 if the
 * word is not the text. */
int uftrace_put_word(struct bytes *out, const char *text);

#endif
