/* SPDX-License-Identifier: MIT
 *
 * The other side, as far as the program can tell: is it there, and wake it.
 */
#ifndef SHIM_READER_H
#define SHIM_READER_H

#include <stdint.h>

/* How long one sleep may last before the reader's death is looked for. */
enum { READER_LOOK_MS = 100 };

/* It left or died: nobody will ever take what is written. */
int reader_is_gone(void);

/* End its nap, if it sleeps a whole tick. */
void reader_wake(void);

/* Sleep until *word is no more `value`.  1: look again.  0: give up, because
 * the reader is gone (then all is switched off), wait_limit_ms has passed
 * since *began (0: it is set), or gdb wants something else. */
int reader_wait(uint32_t *word, uint32_t value, uint64_t *began);

#endif
