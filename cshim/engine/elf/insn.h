/* SPDX-License-Identifier: MIT
 *
 * One instruction: as much of it as it takes to move it elsewhere.
 */
#ifndef ENGINE_INSN_H
#define ENGINE_INSN_H

#include <stdint.h>

enum insn_kind {
	INSN_PLAIN = 0,
	INSN_NOP,
	INSN_BRANCH, /* a conditional jump, to target */
	INSN_JUMP,   /* to target */
	INSN_JUMP_INDIRECT,
	INSN_CALL, /* of target */
	INSN_CALL_INDIRECT,
	INSN_RETURN,
	INSN_TRAP,	/* nothing is executed behind it */
	INSN_IMMOVABLE, /* runs at its own place only; target, or 0 */
};

struct insn {
	uint64_t target;     /* of a jump or call */
	uint64_t data;	     /* what is_relative addresses */
	uint8_t length;	     /* in bytes */
	uint8_t kind;	     /* enum insn_kind */
	uint8_t condition;   /* of a branch: the low 4 bits of its opcode */
	uint8_t is_relative; /* an operand lies relative to the instruction */
	uint8_t data_at;     /* the index of its 32 bits */
	uint8_t is_address;  /* it loads the operand's address, no more */
	uint8_t is_slot;     /* an indirect jump by memory that has no index */
	uint8_t is_register; /* an indirect jump to what a register holds */
	uint8_t only_loads;  /* it sets one register and no flags */
	/* It changes no register but the flags, the stack pointer by a
	 * constant, and those that hold no argument. */
	uint8_t keeps_arguments;
	uint8_t clears_vector; /* it sets a vector register to 0 */
	uint8_t gives_up;  /* what is on the stack: leave, a pop, an addition */
	uint32_t constant; /* 32 bits that may be an address; 0: none */
};

/* Returns whether the next instruction can run behind it, with nothing between
 * them. */
static inline int insn_goes_on(const struct insn *i)
{
	return i->kind == INSN_PLAIN || i->kind == INSN_NOP ||
	       i->kind == INSN_BRANCH;
}

/* Returns whether compilers pad code with it. */
static inline int insn_is_filler(const struct insn *i)
{
	return i->kind == INSN_NOP || (i->kind == INSN_TRAP && i->length == 1);
}

/* Decodes what lies at addr, n bytes at most.  Returns 1, or 0 if they begin
 * with no instruction. */
int insn_decode(struct insn *out, const uint8_t *bytes, uint64_t n,
		uint64_t addr);

#endif
