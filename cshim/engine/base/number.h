/* SPDX-License-Identifier: MIT
 *
 * Numbers as text, fast: each writes at p and returns the place behind what
 * it wrote.  Nothing is terminated.  A number takes at most 24 bytes.
 */
#ifndef ENGINE_NUMBER_H
#define ENGINE_NUMBER_H

#include <stdint.h>

char *number_put(char *p, uint64_t v);
/* Right-aligned in width (at most 24) columns, wider where it must be. */
char *number_put_wide(char *p, uint64_t v, unsigned width);
/* Exactly `width` digits with leading zeros; v must fit. */
char *number_put_digits(char *p, uint32_t v, unsigned width);

/* Seconds with six decimals, right-aligned in NUMBER_SECONDS columns. */
char *number_put_seconds(char *p, uint64_t ns);
/* "999.999 us": scaled, right-aligned in NUMBER_DURATION columns. */
char *number_put_duration(char *p, uint64_t ns);

enum { NUMBER_SECONDS = 11, NUMBER_DURATION = 10 };

#endif
