/* SPDX-License-Identifier: MIT
 *
 * How long the asynchronous spans of a trace were.  The file has a begin and an
 * end as rows that take no time; both get the time between them.
 */
#ifndef ENGINE_ASYNC_TIMES_H
#define ENGINE_ASYNC_TIMES_H

#include "trace/walk.h"

struct async_times;

/* Returns those of a trace, not yet looked for, or NULL when out of memory; the
 * caller frees them with async_times_free(), which takes NULL. */
struct async_times *async_times_new(void);
void async_times_free(struct async_times *a);

/* Looks for them in t, once: goes through all its calls if some function is a
 * begin.  Returns 0 or a negative status. */
int async_times_find(const struct cst_trace *t, struct cst_error *err);

/* Sets *ns to how long the span was that call i of the run, c, begins or ends,
 * and *end to CALL_OPEN for a begin that has no end. */
void async_times_of(const struct cst_trace *t, const struct run *run,
		    uint32_t i, const struct packed_call *c, uint64_t *ns,
		    uint8_t *end);

#endif
