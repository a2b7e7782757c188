/* SPDX-License-Identifier: MIT
 *
 * The code behind a hook's call, followed in a straight line: what it puts into
 * registers and memory, in terms of what these hold when the hook is called.
 */
#ifndef ENGINE_FLOW_H
#define ENGINE_FLOW_H

#include "args/compute.h"
#include "cstrace/layout.h"
#include "elf/modules.h"

enum flow_kind {
	FLOW_UNKNOWN = 0,
	FLOW_REGISTER, /* what the register holds, and add */
	FLOW_MEMORY,   /* what is at the register + offset, and add */
	FLOW_CONSTANT, /* add */
	FLOW_ADDRESS,  /* add, in the process at hand */
	FLOW_COMPUTED, /* what the node `offset` computes */
};

enum { FLOW_LINKS_MAX = 3 };

struct flow_value {
	uint8_t kind;	   /* enum flow_kind */
	uint8_t reg;	   /* enum cst_copy_register */
	uint8_t size;	   /* so many low bytes are known */
	uint8_t is_zeroed; /* those above are 0 */
	uint8_t is_signed; /* they repeat the sign, up to so many bytes: */
	uint8_t reach;
	uint8_t n_links; /* of FLOW_MEMORY: */
	uint8_t reserved;
	int32_t offset;
	/* What is there is an address, and with each of these added there is
	 * the next, and at last the value. */
	int32_t links[FLOW_LINKS_MAX];
	int64_t add;
};

/* Places of values: the processor's registers by their numbers, then those of
 * the vector unit, and the top of the x87's stack. */
enum { FLOW_RAX = 0, FLOW_RDX = 2, FLOW_XMM = 16, FLOW_ST = 32, FLOW_N };

enum { FLOW_STORES_MAX = 32 };

struct flow_store {
	uint8_t reg, size;
	int32_t offset;
	struct flow_value value;
};

/* What the last comparison compared. */
struct flow_compared {
	uint8_t size; /* 0: not known */
	uint8_t a, b; /* nodes */
};

struct flow {
	struct flow_value values[FLOW_N];
	struct flow_store stores[FLOW_STORES_MAX];
	uint32_t n_stores;
	int is_wild;   /* it stores where no one knows */
	int has_guard; /* it looks whether the stack is whole */
	uint64_t hook; /* where it began */
	uint64_t next; /* the instruction behind the one at hand */
	struct flow_compared compared;
	struct compute_node nodes[COMPUTE_MAX];
	struct flow_value inputs[COMPUTE_INPUTS_MAX];
	uint32_t n_nodes, n_inputs;
};

/* Follows the code from `hook`, where the hook returns to, for some
 * instructions.  Returns 1 if it comes to the function's end. */
int flow_run(struct flow *f, struct modules *m, uint64_t hook);

/* Sets the first n of out to where calls in [start, end) return to, in the
 * order of the code.  Returns how many it has set. */
uint32_t flow_calls(struct modules *m, uint64_t start, uint64_t end,
		    uint64_t *out, uint32_t n);

/* Puts what was first stored at the register + offset (size bytes or more) into
 * *out.  Returns 1, or 0 if nothing was. */
int flow_stored(const struct flow *f, int reg, int32_t offset, uint32_t size,
		struct flow_value *out);

#endif
