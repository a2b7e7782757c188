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
#include "kernel/state.h"

/* Copies n bytes at the address `from` to `to`; sp is a stack pointer of the
 * calling thread's that is in use.  Returns how many bytes were copied: fewer
 * than n where the others cannot be read.  Async-signal-safe. */
uint32_t readable_copy(uint64_t sp, void *to, uint64_t from, uint32_t n);

/* Returns how many of n bytes at the address `from` can be read directly; 0
 * says only that the kernel must be asked.  Async-signal-safe. */
uint32_t readable_at_once(uint64_t sp, uint64_t from, uint32_t n);

/* Asks the kernel how far the calling thread's stack is there, for as long as
 * no sandbox forbids it.  Async-signal-safe. */
void readable_look(void);

/* The part of the calling thread's stack that is known to be there; room is the
 * size less 8, and 0 as long as none is known.  The addresses from near_start
 * on, near_size of them, have at least READABLE_NEAR bytes of it on each
 * side. */
struct readable_stack {
	uint64_t start, end, room;
	uint64_t near_start, near_size;
};

extern HIDDEN __thread struct readable_stack readable_stack
	__attribute__((tls_model("initial-exec")));

enum { READABLE_PAGE = 4096, READABLE_NEAR = 520 };

/* Returns whether all is there that an int8_t leads to, in units of four bytes
 * from the address. */
static inline int readable_near(uint64_t at)
{
	return at - readable_stack.near_start < readable_stack.near_size;
}

/* Returns the end of what is there above sp, a stack pointer that is in use,
 * whatever stack that is: of the page with the word below it, which is a return
 * address. */
static inline uint64_t readable_page_end(uint64_t sp)
{
	return ((sp - 8) | (READABLE_PAGE - 1)) + 1;
}

/* Copies n bytes from memory that is known to be there. */
static inline void copy_bytes(uint8_t *to, uint64_t from, uint32_t n)
{
	uint32_t i = 0;

	for (; i + 8 <= n; i += 8)
		__builtin_memcpy(to + i, (const void *)(from + i), 8);
	if (n - i == 4) {
		__builtin_memcpy(to + i, (const void *)(from + i), 4);
		return;
	}
	for (; i < n; i++)
		to[i] = *(const uint8_t *)(from + i);
}

#endif
