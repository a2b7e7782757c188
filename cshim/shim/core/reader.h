/* SPDX-License-Identifier: MIT
 *
 * The reader, as far as the program can see it: whether it is there, and how to
 * wake it and wait for it.
 */
#ifndef SHIM_READER_H
#define SHIM_READER_H

#include <stdint.h>

/* How many ms one sleep may last before the shim checks whether the reader has
 * ended. */
enum { READER_LOOK_MS = 100 };

/* Returns whether the reader has ended or was killed, so that nobody will read
 * what is written. */
int reader_has_ended(void);

/* Wakes the reader, if it sleeps. */
void reader_wake(void);

/* Sleeps until *word is not `value` any more.  Returns 1 to look again; or 0 to
 * give up, because the reader has ended (then everything is switched off),
 * wait_limit_ms has passed since *began (set here if it is 0), or gdb wants
 * something else. */
int reader_wait(uint32_t *word, uint32_t value, uint64_t *began);

#endif
