/* SPDX-License-Identifier: MIT
 *
 * Blocks of calls that are dropped from the beginning of a trace: what of them
 * is still open, and the sequence numbers of what stays.
 */
#ifndef ENGINE_FLIGHT_OPEN_H
#define ENGINE_FLIGHT_OPEN_H

#include "base/bytes.h"
#include "file/spool.h"

struct flight_open;

struct flight_open *flight_open_new(void); /* NULL: out of memory */
void flight_open_free(struct flight_open *c);

/* This CALLS block, the oldest there is, is dropped.  Negative: out of memory,
 * or it is bad. */
int flight_open_take(struct flight_open *c, const uint8_t *info,
		     size_t info_size, const uint8_t *data, size_t data_size);

/* Write the open calls, as the first blocks of their lanes. */
int flight_open_put(const struct flight_open *c, struct spool *s);

/* The info of a block that stays, as it must be behind them. */
int flight_open_renumber(const struct flight_open *c, const uint8_t *info,
			 size_t size, struct bytes *out);

#endif
