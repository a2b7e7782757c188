/* SPDX-License-Identifier: MIT
 *
 * CSTRACE_FLIGHT=SIZE: the newest records stay in memory, without a reader; a
 * core file has them.
 */
#ifndef SHIM_FLIGHT_H
#define SHIM_FLIGHT_H

#include <stdint.h>

/* Makes the memory for a flight of that size ("512K", "16M", "1G").  Returns
 * its descriptor, ready to be mapped, or a negative errno. */
int flight_open(const char *size);

/* Returns the index + 1 of a chunk that is zeroed: a new one, or once all were
 * used the oldest full one; 0: there is none. */
uint32_t flight_chunk(void);

#endif
