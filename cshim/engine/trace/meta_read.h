/* SPDX-License-Identifier: MIT
 *
 * The blocks of a trace file that hold no calls.
 */
#ifndef ENGINE_META_READ_H
#define ENGINE_META_READ_H

#include "trace/loader.h"

/* Adds to t what a block of this kind holds; raw is its unpacked content.
 * Returns 0, CST_BAD_FILE if it is damaged, or CST_MEMORY. */
int meta_read_block(struct cst_trace *t, uint32_t kind, struct cursor *raw);

#endif
