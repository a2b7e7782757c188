/* SPDX-License-Identifier: MIT
 *
 * What the engine must know of the processor: x86-64.
 */
#ifndef ENGINE_X86_64_H
#define ENGINE_X86_64_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

enum {
	PROCESSOR_ELF_MACHINE = EM_X86_64,
	PROCESSOR_ELF_CLASS = ELFCLASS64,

	/* DWARF's numbers of the two registers that a record holds. */
	PROCESSOR_DWARF_FP = 6,	     /* rbp */
	PROCESSOR_DWARF_SP = 7,	     /* rsp */
	PROCESSOR_DWARF_RETURN = 16, /* the return address */

	/* From the frame pointer to the end of what every framed function
	 * saves: the caller's frame pointer and the return address. */
	PROCESSOR_FRAME_HEAD = 16,

	PROCESSOR_NOP = 0x90,
	PROCESSOR_SIGRETURN_BYTES = 9,
	PROCESSOR_CALL_BYTES = 8, /* the longest call instruction */
	PROCESSOR_ENTRY_CFA =
		8, /* above the stack pointer where functions begin */
	PROCESSOR_ADDRESS_BITS = 47, /* of a program's addresses */
};

/* How long the indirect call is that begins these n bytes: ff, and where the
 * address is read. */
static inline int processor_indirect_bytes(const uint8_t *code, int n)
{
	int mode = code[1] >> 6, is_indexed = mode != 3 && (code[1] & 7) == 4;
	int base = code[is_indexed && n > 2 ? 2 : 1] & 7;
	int is_far = mode == 2 || (mode == 0 && base == 5);

	return 2 + is_indexed + (is_far ? 4 : mode == 1);
}

/* Is this what a signal handler returns to, mov $15, %eax or %rax, and
 * syscall? */
static inline int
processor_is_sigreturn(const uint8_t code[PROCESSOR_SIGRETURN_BYTES])
{
	static const uint8_t is_short[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05},
			     is_long[] = {0x48, 0xc7, 0xc0, 15,	 0,
					  0,	0,    0x0f, 0x05};

	return !memcmp(code, is_short, sizeof(is_short)) ||
	       !memcmp(code, is_long, sizeof(is_long));
}

/* Can these bytes of code end in a call? */
static inline int
processor_ends_in_call(const uint8_t code[PROCESSOR_CALL_BYTES])
{
	const uint8_t *end = code + PROCESSOR_CALL_BYTES;

	if (end[-5] == 0xe8)
		return 1;
	for (int n = 2; n <= PROCESSOR_CALL_BYTES; n++)
		if (end[-n] == 0xff && (end[1 - n] >> 3 & 7) == 2 &&
		    processor_indirect_bytes(end - n, n) == n)
			return 1;
	return 0;
}

#endif
