/* SPDX-License-Identifier: MIT
 *
 * What is known of a trace once all its blocks are read.
 */
#ifndef ENGINE_FINISH_H
#define ENGINE_FINISH_H

#include "trace/loader.h"

/* Sorts and adds up what the blocks of t hold, once all were read.  Returns 0
 * or a negative status. */
int loader_settle(struct cst_trace *t, struct cst_error *err);

/* Returns the index in t->late of the first late end of the lane's calls from
 * seq on. */
uint32_t loader_late(const struct cst_trace *t, uint32_t lane, uint64_t seq);

#endif
