/* SPDX-License-Identifier: MIT
 *
 * What fuzzers do with the text that they get.
 */
#ifndef FUZZ_TEXT_H
#define FUZZ_TEXT_H

#include <stdint.h>
#include <stdlib.h>

enum { OUTPUT_MAX = 1 << 20 }; /* of each way to show a trace */

/* Names and numbers come out as text: looks at each byte, once. */
static inline void check_text(const char *text, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < 0x20 && text[i] != '\n')
			abort();
}

/* A cst_write_fn; arg: how many bytes there may still be, a uint64_t. */
static inline int count_bytes(void *arg, const char *bytes, uint64_t size)
{
	uint64_t *left = arg;

	(void)bytes;
	if (size > *left)
		return -1;
	*left -= size;
	return 0;
}

static inline int count_write(void *arg, const char *text, uint64_t size)
{
	check_text(text, size);
	return count_bytes(arg, text, size);
}

#endif
