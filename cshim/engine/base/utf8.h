/* SPDX-License-Identifier: MIT
 *
 * Which bytes of a name are text.
 */
#ifndef ENGINE_UTF8_H
#define ENGINE_UTF8_H

#include <stdint.h>

/* The length of the well-formed UTF-8 sequence at p (NUL-terminated text), and
 * its character; or 0: not well formed. */
int utf8_decode(const char *p, uint32_t *out);

/* The length alone. */
int utf8_length(const char *p);

/* The same for a character that is seen as such: 0 also for control
 * characters, and those that reverse or hide the text behind them. */
int utf8_printable(const char *p);

/* Put the text with what is not printable escaped, cut at `room` bytes; returns
 * the end, where no NUL is put. */
char *utf8_put(char *out, const char *text, unsigned room);

#endif
