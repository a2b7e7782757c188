/* SPDX-License-Identifier: MIT
 *
 * Which chunk this thread's cursor points into.
 */
#ifndef SHIM_CHUNK_H
#define SHIM_CHUNK_H

#include "cstrace/layout.h"

/* A slot in this thread's chunk, claiming a new one if need be.  NULL: the
 * record is lost, and counted.  Async-signal-safe. */
struct cst_record *chunk_slot(void);

/* Is this a handler amid our own work on the same thread (signals.h)?  Then its
 * record is lost, and counted. */
int chunk_is_busy(void);

/* Give this thread's chunk, if any, to the reader.  Signals blocked. */
struct self;
void chunk_hand_over(struct self *me);

#endif
