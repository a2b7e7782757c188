/* SPDX-License-Identifier: MIT
 *
 * Numbers as text, made fast.  Each function writes at p, where the caller has
 * room for at least 24 bytes, and returns the place behind what it wrote.  No
 * NUL is written.
 */
#ifndef ENGINE_NUMBER_H
#define ENGINE_NUMBER_H

#include <stdint.h>

/* Writes v in decimal digits. */
char *number_put(char *p, uint64_t v);
/* Writes v right-aligned in `width` columns, at most 24, and wider where it
 * does not fit. */
char *number_put_wide(char *p, uint64_t v, unsigned width);
/* Writes v as exactly `width` digits with leading zeros; v must fit. */
char *number_put_digits(char *p, uint32_t v, unsigned width);

/* Writes a time in ns as seconds with six decimals, right-aligned in
 * NUMBER_SECONDS columns. */
char *number_put_seconds(char *p, uint64_t ns);
/* Writes a duration in ns in a unit that suits it, "999.999 us", right-aligned
 * in NUMBER_DURATION columns. */
char *number_put_duration(char *p, uint64_t ns);

enum { NUMBER_SECONDS = 11, NUMBER_DURATION = 10 };

#endif
