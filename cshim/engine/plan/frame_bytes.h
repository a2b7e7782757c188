/* SPDX-License-Identifier: MIT
 *
 * Numbers as call frame information has them.
 */
#ifndef ENGINE_PLAN_FRAME_BYTES_H
#define ENGINE_PLAN_FRAME_BYTES_H

#include "base/bytes.h"

/* Reads a signed LEB128. */
int64_t frame_signed(struct cursor *c);
/* Reads a number of `size` bytes, 1 to 8, the lowest first. */
uint64_t frame_number(struct cursor *c, uint32_t size);
/* Reads a pointer of the encoding DW_EH_PE_...; addr is where it stands.
 * Fails the cursor for one that needs what is not in the file. */
uint64_t frame_pointer(struct cursor *c, uint8_t encoding, uint64_t addr);

/* Appends a signed and an unsigned LEB128. */
void frame_put_signed(struct bytes *b, int64_t value);
void frame_put_unsigned(struct bytes *b, uint64_t value);

#endif
