/* SPDX-License-Identifier: MIT
 *
 * Which bytes of a name are UTF-8 text that can be printed.  All input is
 * NUL-terminated.
 */
#ifndef ENGINE_UTF8_H
#define ENGINE_UTF8_H

#include <stdint.h>

/* Returns the length of the well-formed UTF-8 sequence at p and puts its
 * character into *out, or returns 0 if it is not well formed. */
int utf8_decode(const char *p, uint32_t *out);

/* Returns the length of the well-formed UTF-8 sequence at p, or 0. */
int utf8_length(const char *p);

/* Returns the length of the sequence at p if its character is printable: 0 also
 * for control characters, and for those that reverse or hide the text behind
 * them. */
int utf8_printable(const char *p);

/* Writes text at out with the bytes that are not printable escaped, cut at
 * `room` bytes.  Returns the end; no NUL is written. */
char *utf8_put(char *out, const char *text, unsigned room);

#endif
