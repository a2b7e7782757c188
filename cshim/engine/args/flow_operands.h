/* SPDX-License-Identifier: MIT
 *
 * The operands of instructions in a flow.
 */
#ifndef ENGINE_FLOW_OPERANDS_H
#define ENGINE_FLOW_OPERANDS_H

#include "args/code.h"
#include "args/flow.h"

/* Puts the address that the operand has into *out, as a register and `add`.
 * Returns 0 if it is not known to be one. */
int flow_address(const struct flow *f, const ZydisDecodedOperandMem *mem,
		 struct flow_value *out);

/* Returns what so many bytes of memory hold. */
struct flow_value flow_load(const struct flow *f,
			    const ZydisDecodedOperandMem *mem, uint32_t size);

/* Notes what is stored at an address that flow_address() has found. */
void flow_store_at(struct flow *f, const struct flow_value *addr, uint32_t size,
		   struct flow_value value);

struct flow_value flow_read(const struct flow *f, const ZydisDecodedOperand *o);
void flow_write(struct flow *f, const ZydisDecodedOperand *o,
		struct flow_value value);

/* Makes all that the instruction writes unknown. */
void flow_forget(struct flow *f, const struct code_line *l);

#endif
