/* SPDX-License-Identifier: MIT
 *
 * The area as a file on disk, where there is no reader: made by the first
 * process that has something to write.
 */
#ifndef SHIM_FILE_H
#define SHIM_FILE_H

#include <stdint.h>

/* Opens or makes the file at path.  Returns its descriptor, ready to be mapped,
 * or a negative errno.  It replaces nothing but areas whose processes have all
 * ended. */
int file_open(const char *path);

/* Writes the head of an area that no reader has, into a file without one;
 * is_read: a debugger reads it while this process stands still.  Returns 0 or a
 * negative errno. */
int file_write_head(int fd, uint32_t flight_chunks, int is_read);

/* Makes one more chunk in the file; returns its index + 1, or 0 if there is
 * none or no room for it. */
uint32_t file_chunk(void);

#endif
