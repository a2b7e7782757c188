/* SPDX-License-Identifier: MIT
 *
 * Asynchronous spans of a process: begins and ends, which may be heard of in
 * any order, become pairs.  A begin goes with the first end behind it that has
 * its key, and of several that are open under one key the newest ends.
 */
#ifndef ENGINE_ASYNC_SPANS_H
#define ENGINE_ASYNC_SPANS_H

#include "base/bytes.h"

/* Zeroed: empty. */
struct async_spans {
	struct async_event *all;
	uint32_t n, cap;
};

/* Notes a begin, with the text that goes with the span (copied); NULL: it is an
 * end.  Returns 0, or CST_MEMORY. */
int async_spans_note(struct async_spans *a, uint64_t key, uint64_t at_ns,
		     const struct bytes *text);

/* Has put() write each span, in order of their begins, and empties a.  One that
 * has no end ends at last_ns, is_open.  Returns 0, or CST_MEMORY. */
int async_spans_put(struct async_spans *a, uint64_t last_ns,
		    void (*put)(void *arg, const struct bytes *text,
				uint64_t start_ns, uint64_t end_ns, int is_open,
				struct bytes *out),
		    void *arg, struct bytes *out);

/* Frees the memory of a and zeroes it. */
void async_spans_release(struct async_spans *a);

#endif
