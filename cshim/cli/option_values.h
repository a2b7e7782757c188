/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the values of options.  Each function returns 0, or
 * CST_BAD_INPUT for text that is not valid, unless its comment says otherwise.
 */
#ifndef CLI_OPTION_VALUES_H
#define CLI_OPTION_VALUES_H

#include <stdint.h>

/* Reads an integer of at most max. */
int value_number(const char *text, uint64_t max, uint64_t *out);

/* Returns the index of the word among words, which end with NULL; or -1. */
int value_word(const char *text, const char *const *words);

/* Reads a time such as "10us", "1.5ms" or "2s" in nanoseconds; a bare 0 needs
 * no unit. */
int value_time(const char *text, uint64_t *out);

/* Reads a size such as "64K", "10M" or "1.5G" in bytes; not 0. */
int value_size(const char *text, uint64_t *out);

#endif
