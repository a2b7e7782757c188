/* SPDX-License-Identifier: MIT
 *
 * Lines of text for a descriptor, without libc: async-signal-safe.
 */
#ifndef SHIM_OUTPUT_H
#define SHIM_OUTPUT_H

#include "kernel/syscall.h"

enum { OUTPUT_SIZE = 1024 };

struct output {
	int fd;
	uint32_t n;
	char bytes[OUTPUT_SIZE];
};

static inline void output_flush(struct output *o)
{
	uint32_t done = 0;

	while (done < o->n) {
		long n = sys_write(o->fd, o->bytes + done, o->n - done);

		if (n <= 0)
			break;
		done += (uint32_t)n;
	}
	o->n = 0;
}

static inline void output_char(struct output *o, char c)
{
	if (o->n == OUTPUT_SIZE)
		output_flush(o);
	o->bytes[o->n++] = c;
}

static inline void output_text(struct output *o, const char *text)
{
	while (*text)
		output_char(o, *text++);
}

static inline void output_number(struct output *o, uint64_t v, uint32_t base)
{
	char digits[20];
	uint32_t n = 0;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	while (n)
		output_char(o, digits[--n]);
}

static inline void output_hex(struct output *o, uint64_t v)
{
	output_text(o, "0x");
	output_number(o, v, 16);
}

#endif
