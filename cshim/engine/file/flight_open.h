/* SPDX-License-Identifier: MIT
 *
 * Blocks of calls that are dropped from the beginning of a trace: what of them
 * is still open, and the sequence numbers of what stays.
 */
#ifndef ENGINE_FLIGHT_OPEN_H
#define ENGINE_FLIGHT_OPEN_H

#include "base/bytes.h"
#include "file/spool.h"

struct carry;

struct carry *carry_new(void); /* NULL: out of memory */
void carry_free(struct carry *c);

/* This CALLS block, the oldest there is, is dropped.  Negative: out of memory,
 * or it is bad. */
int carry_take(struct carry *c, const uint8_t *info, size_t info_size,
	       const uint8_t *data, size_t data_size);

/* Write the open calls, as the first blocks of their lanes. */
int carry_put(const struct carry *c, struct spool *s);

/* The info of a block that stays, as it must be behind them. */
int carry_renumber(const struct carry *c, const uint8_t *info, size_t size,
		   struct bytes *out);

#endif
