/* SPDX-License-Identifier: MIT
 *
 * The chunk that this thread's cursor points into.
 */
#ifndef SHIM_CHUNK_H
#define SHIM_CHUNK_H

#include "cstrace/layout.h"

/* Returns a slot in this thread's chunk, after claiming a new one if need be.
 * Returns NULL if the record is lost, which it counts.  Async-signal-safe. */
struct cst_record *chunk_slot(void);

/* Returns n slots that follow one another in one chunk, or NULL if the records
 * are lost, which it counts.  Async-signal-safe. */
struct cst_record *chunk_slots(uint32_t n);

/* Returns whether this is a signal handler that interrupted the shim's own work
 * on the same thread (signals.h). Its record is then lost, and counted. */
int chunk_is_busy(void);

/* Waiting may help again: there is another area. */
void chunk_forget_waiting(void);

struct self;

/* Hands the chunk of `me`, if it has one, over to the reader.  Called with
 * signals blocked. */
void chunk_hand_over(struct self *me);

#endif
