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

/* Sets *result to what the plan computes of n raw bytes, where its codes say
 * so; they also say which low bytes count.  Returns 1, or 0 if there are more
 * or fewer bytes than it takes. */
int args_compute(const struct args_plan *plan, const uint8_t *raw, uint32_t n,
		 uint64_t *result);
/* Returns what it computes of the numbers that an event's own record holds. */
uint64_t args_compute_packed(const struct args_plan *plan, uint64_t packed);

#endif
