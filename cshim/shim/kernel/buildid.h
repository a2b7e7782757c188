/* SPDX-License-Identifier: MIT
 *
 * Which object is mapped and where, by what the linker left in its file and so
 * in memory.
 */
#ifndef SHIM_BUILDID_H
#define SHIM_BUILDID_H

#include <stdint.h>

enum { MAX_BUILD_ID = 64, BUILD_ID_TEXT = 2 * MAX_BUILD_ID + 18 };

/* Of the object whose first byte is mapped at `start`: its build-id, a space,
 * the address at which its own address 0 is, both in lower case hex, NUL-ended.
 * "" where it has no build-id or cannot be read.  The memory is read by the
 * kernel: it may be unmapped meanwhile. */
void buildid_read(uint64_t start, char out[BUILD_ID_TEXT]);

#endif
