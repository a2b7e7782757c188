/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is typed behind an option.  Each function returns 0, or what its comment
 * says, and a negative number for text that is not what it reads.
 */
#ifndef CLI_OPTION_VALUES_H
#define CLI_OPTION_VALUES_H

#include <stdint.h>

/* A whole number of at most max. */
int value_number(const char *text, uint64_t max, uint64_t *out);

/* Returns the index of the word among words, which end with NULL. */
int value_word(const char *text, const char *const *words);

/* A time in nanoseconds: "10us", "1.5ms", "2s"; a bare 0 needs no unit. */
int value_time(const char *text, uint64_t *out);

/* A size in bytes: "64K", "10M", "1.5G"; not 0. */
int value_size(const char *text, uint64_t *out);

#endif
