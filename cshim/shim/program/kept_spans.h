/* SPDX-License-Identifier: MIT
 *
 * The last spans of all threads, for cstrace_span_dump().  Async-signal-safe.
 */
#ifndef SHIM_KEPT_SPANS_H
#define SHIM_KEPT_SPANS_H

#include <stdint.h>

struct cstrace_place;

/* From now on keeps the last n spans; 0: none.  What it has is dropped.
 * Returns 0, or -1: there is no memory. */
int kept_spans_keep(uint32_t n);

/* Keeps a span that begins at that level; returns its number, or 0: it is not
 * kept.  kept_spans_end() ends it. */
uint64_t kept_spans_begin(const struct cstrace_place *place, uint32_t level);
void kept_spans_end(uint64_t number);

/* Likewise for spans that another thread may end. */
void kept_spans_begin_async(const struct cstrace_place *place, uint64_t id);
void kept_spans_end_async(const struct cstrace_place *place, uint64_t id);

/* Writes the tree. */
void kept_spans_dump(int fd);

#endif
