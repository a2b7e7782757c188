/* SPDX-License-Identifier: MIT
 *
 * Asynchronous spans: begins and ends, which may be in different threads,
 * become pairs.  An end goes with the newest begin that is open under its key.
 */
#ifndef ENGINE_ASYNC_SPANS_H
#define ENGINE_ASYNC_SPANS_H

#include "base/hashmap.h"
#include "names/names.h"

/* Zeroed: none is open. */
struct async_spans {
	struct async_begin *all; /* so far; most are over */
	uint32_t n, cap;
	struct hashmap newest; /* by key: 1 + the newest that is open */
};

/* Returns the key of a begin or an end: what its process, its name and its
 * first value (of these n bytes) make together; 0: it has no number, and is
 * not one of a pair. */
uint64_t async_spans_key(uint32_t process, const struct function *f,
			 const void *values, uint32_t n);

/* Begins a span; `what` is the user's.  Begins and ends are to come in order of
 * time.  Returns 0, or CST_MEMORY. */
int async_spans_begin(struct async_spans *a, uint64_t key, uint64_t what);
/* Ends the newest span of that key.  Returns 1, and sets *what to the user's;
 * 0: none is open. */
int async_spans_end(struct async_spans *a, uint64_t key, uint64_t *what);

/* Frees the memory of a and zeroes it. */
void async_spans_release(struct async_spans *a);

#endif
