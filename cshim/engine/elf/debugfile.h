/* SPDX-License-Identifier: MIT
 *
 * The build-id of an ELF file, and the separate debug file that belongs to it.
 */
#ifndef ENGINE_DEBUGFILE_H
#define ENGINE_DEBUGFILE_H

#include "elf/elffile.h"

enum { BUILD_ID_SIZE = CST_BUILD_ID_SIZE };

/* Write f's build-id in hexadecimal digits, or "" when f has none. */
void elf_file_build_id(const struct elf_file *f, char out[BUILD_ID_SIZE]);

/* Open the debug file of f, which lies at path: `hint` where it is not NULL,
 * else by build-id or .gnu_debuglink among what is installed here.  Returns 1
 * and *out, which the caller closes; 0: there is none. */
int elf_file_open_debug(const struct elf_file *f, const char *path,
			const char *hint, struct elf_file *out);

#endif
