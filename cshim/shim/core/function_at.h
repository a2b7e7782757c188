/* SPDX-License-Identifier: MIT
 *
 * Which function an address lies in, by the call frame information of the file
 * that holds it.
 */
#ifndef SHIM_FUNCTION_AT_H
#define SHIM_FUNCTION_AT_H

#include <stdint.h>
#include "kernel/state.h"

/* Returns the .eh_frame_hdr of the object that holds the address, or NULL; it
 * is async-signal-safe.  NULL where libc has no such function (glibc before
 * 2.35, musl). */
extern HIDDEN const uint8_t *(*function_tables)(uint64_t address);

/* Returns where the function that holds the address begins, or 0: that is not
 * known.  A part of it that the compiler has moved away is a function of its
 * own here.  Async-signal-safe. */
uint64_t function_at(uint64_t address);

#endif
