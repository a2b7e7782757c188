/* SPDX-License-Identifier: MIT
 *
 * What a plan's program has copied, as values.
 */
#ifndef ENGINE_ARGS_DECODE_H
#define ENGINE_ARGS_DECODE_H

#include "args/args.h"
#include "base/bytes.h"

/* Appends the values of n raw bytes, which the plan's program has emitted, to
 * out.  Values that the bytes have no room for are bad ones.  m tells the names
 * of what is pointed to (it may be NULL if plan->has_pointers is 0), `hook`
 * where the hook returns to in this process. */
void args_decode(const struct args_plan *plan, struct modules *m, uint64_t hook,
		 const void *raw, uint32_t n, struct bytes *out);

/* Returns the result that the plan computes of the numbers that an event's own
 * record holds; its codes say so, and which low bytes count. */
uint64_t args_compute(const struct args_plan *plan, uint64_t packed);

#endif
