/* SPDX-License-Identifier: MIT
 *
 * Which function an address lies in, by the call frame information of the file
 * that holds it.
 */
#ifndef SHIM_FUNCTION_AT_H
#define SHIM_FUNCTION_AT_H

#include <stdint.h>
#include "kernel/state.h"

/* An object that is loaded, and its .eh_frame_hdr. */
struct loaded_tables {
	uint64_t start, end, header;
};

/* Finds the one that holds the address.  Returns 0, or -1: there is none, or it
 * has no such table; it is async-signal-safe.  NULL where libc cannot tell
 * (glibc before 2.35, musl). */
extern HIDDEN int (*function_tables)(uint64_t address,
				     struct loaded_tables *out);

/* Returns where the function that holds the address begins, or 0: that is not
 * known.  A part of it that the compiler has moved away is a function of its
 * own here.  Async-signal-safe. */
uint64_t function_at(uint64_t address);

#endif
