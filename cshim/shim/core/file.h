/* SPDX-License-Identifier: MIT
 *
 * The area as a file on disk, where there is no reader: made by the first
 * process that has something to write.
 */
#ifndef SHIM_FILE_H
#define SHIM_FILE_H

#include <stdint.h>

/* Its descriptor, ready to be mapped; or negative errno.  Other files than
 * areas whose processes are all gone are never replaced. */
int file_open(const char *path);

/* The next chunk, index + 1; 0: there is none, or no room for it. */
uint32_t file_chunk(void);

#endif
