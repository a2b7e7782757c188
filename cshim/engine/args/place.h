/* SPDX-License-Identifier: MIT
 *
 * Where a value is when a hook is called, by the debug information.
 */
#ifndef ENGINE_PLACE_H
#define ENGINE_PLACE_H

#include "args/compute.h"
#include "cstrace/layout.h"
#include "elf/modules.h"

#include <elfutils/libdw.h>

enum place_kind {
	PLACE_GONE = 0, /* nowhere, or where no hook can find it */
	PLACE_REGISTER,
	PLACE_MEMORY,
	PLACE_CONSTANT,
	PLACE_PIECES,
	PLACE_COMPUTED, /* of several places: struct computed */
};

enum { PLACE_LINKS_MAX = 4, PLACE_PIECES_MAX = 4 };

/* How a number becomes one of more bytes. */
enum widening {
	WIDEN_BY_TYPE = 0,
	WIDEN_SIGNED,
	WIDEN_ZEROED,
};

/* Part of a value. */
struct piece {
	uint8_t is_register; /* else it is in the frame */
	uint8_t reg;
	uint16_t size;
	int32_t offset;
};

struct place {
	uint8_t kind;	/* enum place_kind */
	uint8_t reg;	/* enum cst_copy_register */
	uint8_t is_far; /* reg is no register of a frame */
	uint8_t n;	/* links, or pieces */
	/* The address of PLACE_MEMORY is the register + links[0]; with more
	 * links it is read there, and each is added to what was read. */
	int32_t links[PLACE_LINKS_MAX];
	int64_t add;	    /* to the value there; or it is the constant */
	uint8_t is_address; /* the constant is one, in the process at hand */
	uint8_t size;	    /* so many bytes are there; 0: all */
	uint8_t widening;   /* enum widening */
	struct piece pieces[PLACE_PIECES_MAX];
};

/* A number that the code behind a hook computes, of what is at these places. */
struct computed {
	struct compute_node nodes[COMPUTE_MAX];
	struct place inputs[COMPUTE_INPUTS_MAX];
	uint32_t n_nodes, n_inputs;
};

/* A function's frame at a hook's call. */
struct frame {
	struct inlines *in;
	Dwarf_Die function; /* whose frame it is */
	uint64_t pc;	    /* in the debug information */
	uint64_t bias;	    /* from there to the process */
	struct code code;   /* has the rule for the CFA */
	int is_patched; /* pc is its first instruction, which a patch reports */
};

/* Finds where die (a parameter) is.  PLACE_GONE where it is not known. */
void place_find(const struct frame *f, Dwarf_Die *die, struct place *out);

/* Returns whether both are the same memory, or the same pieces of it. */
int place_is_same(const struct place *a, const struct place *b);

/* Makes a place of the pointer at *p into that of what it points to.  Returns
 * 0 if that is no place. */
int place_follow(struct place *p);

/* Returns the register with that number in DWARF, or -1. */
int place_register(uint64_t number);

#endif
