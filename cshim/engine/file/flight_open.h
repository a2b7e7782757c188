/* SPDX-License-Identifier: MIT
 *
 * What remains of the blocks of calls that are dropped from the beginning of a
 * trace: their calls that are still open, and how the sequence numbers of the
 * blocks that stay must change.
 */
#ifndef ENGINE_FLIGHT_OPEN_H
#define ENGINE_FLIGHT_OPEN_H

#include "base/bytes.h"
#include "file/spool.h"

struct flight_open;

/* Returns one without calls, or NULL when out of memory. */
struct flight_open *flight_open_new(void);

/* Frees c, which may be NULL. */
void flight_open_free(struct flight_open *c);

/* Adds what is open of this CALLS block, which is dropped; its lane's older
 * blocks were dropped before.  Returns 0, CST_BAD_FILE if the block is damaged,
 * or CST_MEMORY. */
int flight_open_take(struct flight_open *c, const uint8_t *info,
		     size_t info_size, const uint8_t *data, size_t data_size);

/* Writes the open calls to s, as the first blocks of their lanes.  Returns 0,
 * or CST_MEMORY. */
int flight_open_put(const struct flight_open *c, struct spool *s);

/* Appends to out the info of a CALLS block that stays, changed so that it fits
 * behind the blocks that flight_open_put() writes.  Returns 0, or a negative
 * number if it cannot be read. */
int flight_open_renumber(const struct flight_open *c, const uint8_t *info,
			 size_t size, struct bytes *out);

#endif
