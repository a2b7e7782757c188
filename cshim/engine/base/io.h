/* SPDX-License-Identifier: MIT
 *
 * Reads and writes of all that is asked for, however often signals or the
 * kernel cut them short.
 */
#ifndef ENGINE_IO_H
#define ENGINE_IO_H

#include <stddef.h>
#include <stdint.h>

/* Writes the n bytes at data to fd.  Returns 0, or CST_FAILED with errno. */
int io_write(int fd, const void *data, size_t n);

/* Reads n bytes of fd from the position at on.  Returns how many there were,
 * fewer than n at the end of the file only; or CST_FAILED with errno. */
int64_t io_read_at(int fd, void *out, size_t n, uint64_t at);

#endif
