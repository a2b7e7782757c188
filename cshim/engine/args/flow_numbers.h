/* SPDX-License-Identifier: MIT
 *
 * Numbers that the code behind a hook computes of those that the hook can copy.
 */
#ifndef ENGINE_FLOW_NUMBERS_H
#define ENGINE_FLOW_NUMBERS_H

#include "args/code.h"
#include "args/flow.h"

/* Executes an instruction that computes; what it writes becomes unknown if it
 * is not known how. */
void flow_compute(struct flow *f, const struct code_line *l);

/* Returns whether the instruction changes the flags of a comparison. */
int flow_ends_comparison(const struct code_line *l);

/* Returns the node whose low `size` bytes are the value's, or -1. */
int flow_node(struct flow *f, const struct flow_value *value, uint32_t size);

#endif
