/* SPDX-License-Identifier: MIT
 *
 * Reads the program's memory by addresses that may lead anywhere.  Nothing here
 * faults: only memory that is certain to be there is read directly, the calling
 * thread's own stack and the program's own file; all else by the kernel, which
 * a sandbox may forbid.
 */
#ifndef SHIM_READABLE_H
#define SHIM_READABLE_H

#include <stdint.h>

/* Copies n bytes at the address `from` to `to`; sp is a stack pointer of the
 * calling thread's that is in use.  Returns how many bytes were copied: fewer
 * than n where the others cannot be read.  Async-signal-safe. */
uint32_t readable_copy(uint64_t sp, void *to, uint64_t from, uint32_t n);

/* Copies n bytes from memory that is known to be there. */
static inline void copy_bytes(uint8_t *to, uint64_t from, uint32_t n)
{
	const uint8_t *bytes = (const uint8_t *)from;

	if (n == 8) {
		__builtin_memcpy(to, bytes, 8);
		return;
	}
	if (n == 4) {
		__builtin_memcpy(to, bytes, 4);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		to[i] = bytes[i];
}

#endif
