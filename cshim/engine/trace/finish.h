/* SPDX-License-Identifier: MIT
 *
 * What is known of a trace once all its blocks are read.
 */
#ifndef ENGINE_FINISH_H
#define ENGINE_FINISH_H

#include "trace/loader.h"

/* All blocks of t were read: sorts what they hold and adds it up. */
int loader_settle(struct cst_trace *t, struct cst_error *err);

/* The first late end of the lane's calls from seq on, as an index. */
uint32_t loader_late(const struct cst_trace *t, uint32_t lane, uint64_t seq);

#endif
