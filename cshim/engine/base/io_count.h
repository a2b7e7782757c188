/* SPDX-License-Identifier: MIT
 *
 * How many bytes processes have written, to anything, as the kernel counts
 * them.
 */
#ifndef ENGINE_IO_COUNT_H
#define ENGINE_IO_COUNT_H

#include <stddef.h>
#include <stdint.h>

/* Adds the bytes that process pid has written since it began to *sum, if there
 * is such a process.  Returns 0, or CST_FAILED: the kernel does not say. */
int io_count(uint32_t pid, uint64_t *sum);

/* Notes that the engine itself has written n bytes.  Any thread may call it. */
void io_note_own(size_t n);

/* Returns the bytes noted so far. */
uint64_t io_own(void);

#endif
