/* SPDX-License-Identifier: MIT
 *
 * What the program says by cstrace.h becomes records.
 */
#ifndef SHIM_OWN_H
#define SHIM_OWN_H

#include "cstrace/cstrace.h"

/* The functions of struct cstrace_shim. */
int own_begin(struct cstrace_span *span, struct cstrace_place *place,
	      uint32_t kind, const void *caller,
	      const struct cstrace_value *values, uint32_t n);
void own_end(struct cstrace_span *span, const struct cstrace_value *values,
	     uint32_t n);
void own_tell(struct cstrace_place *place, uint32_t kind,
	      const struct cstrace_value *values, uint32_t n);
uint64_t own_elapsed(const struct cstrace_span *span);

#endif
