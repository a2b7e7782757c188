/* SPDX-License-Identifier: MIT
 *
 * The jump that a compiler makes of a switch: through a table of offsets from
 * the table's own begin.
 */
#ifndef ENGINE_TABLE_JUMP_H
#define ENGINE_TABLE_JUMP_H

#include <stdint.h>

/* code points to n instructions that run one behind the other, in readable
 * memory up to end, which is the code's at end_addr; the last one jumps to what
 * a register holds.  Returns the address that a lea loads and an add adds to an
 * offset for that, or 0. */
uint64_t table_jump_base(const uint8_t *const *code, int n, const uint8_t *end,
			 uint64_t end_addr);

#endif
