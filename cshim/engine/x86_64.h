/* SPDX-License-Identifier: MIT
 *
 * What the engine must know of the processor: x86-64.
 */
#ifndef ENGINE_X86_64_H
#define ENGINE_X86_64_H

#include <elf.h>

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
};

#endif
