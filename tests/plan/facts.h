/* SPDX-License-Identifier: MIT
 *
 * What a file's code is, found without the planner: read by program headers,
 * with libdw's call frame information, decoded with all operands.
 */
#ifndef TESTS_PLAN_FACTS_H
#define TESTS_PLAN_FACTS_H

#include <Zydis/Zydis.h>
#include <elfutils/libdw.h>
#include <stdint.h>

enum fact {
	FACT_TARGET = 1,  /* something jumps here, or may do so */
	FACT_RETURN = 2,  /* a call returns here */
	FACT_ROW = 4,	  /* a debugger stops here for a line */
	FACT_STUB = 8,	  /* no function of the file's own */
	FACT_CODE = 16,	  /* an instruction begins here */
	FACT_LISTED = 32, /* a word that may be a table's leads here */
	FACT_FLOATS = 64, /* of the function that begins here a parameter may be
			   * a float */
};

/* Where the code takes the address of, outside of code. */
struct fact_table {
	uint64_t start;
	int is_certain;	  /* a jump adds one of its words to that address */
	uint64_t n_words; /* that the jump is limited to; 0: not known */
};

struct facts {
	int fd;
	Elf *elf;
	Dwarf_CFI *frames;
	const uint8_t *file;
	uint64_t file_size;
	uint64_t start, end; /* of the executable segments */
	uint8_t *marks;
	struct fact_table *tables;
	uint32_t n_tables;
	int is_fixed;
};

struct decoded {
	ZydisDecodedInstruction is;
	ZydisDecodedOperand of[ZYDIS_MAX_OPERAND_COUNT];
};

/* Reads the file.  Returns 1, or 0 if it cannot. */
int facts_init(struct facts *f, const char *path);
void facts_release(struct facts *f);

/* The n bytes that are loaded at addr, or NULL. */
const uint8_t *facts_bytes(const struct facts *f, uint64_t addr, uint64_t n);
uint8_t facts_at(const struct facts *f, uint64_t addr);

/* Decodes n bytes at most that run at addr.  Returns the length, or 0. */
unsigned decode(struct decoded *d, const uint8_t *bytes, uint64_t n);
/* Returns where the instruction at addr jumps to, or what its operand in memory
 * is if that is relative to it; 0: there is none. */
uint64_t target_of(const struct decoded *d, uint64_t addr);
uint64_t data_of(const struct decoded *d, uint64_t addr);

#endif
