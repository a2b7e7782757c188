/* SPDX-License-Identifier: MIT
 *
 * The sums of a report and the rows made of them.
 */
#ifndef ENGINE_REPORT_ROWS_H
#define ENGINE_REPORT_ROWS_H

#include "base/bytes.h"
#include "report/report_keys.h"

struct total {
	uint64_t n_calls, total_ns, min_ns, max_ns;
	int64_t self_ns;
	/* Calls that gdb stopped the program in, and how often it did so in the
	 * function's own code. */
	uint64_t n_stopped;
	int64_t own_stops;
	uint32_t outermost; /* level of its outermost call, if it is still
			     * open there */
	uint8_t is_min_stopped, is_max_stopped;
	uint32_t size_bytes; /* of the function's code; 0: not known */
};

static inline uint64_t total_self(const struct total *t)
{
	return t->self_ns > 0 ? (uint64_t)t->self_ns : 0;
}

/* Count a call, but for total_ns. */
static inline void total_add(struct total *t, uint64_t ns, uint32_t n_stops)
{
	if (ns < t->min_ns || !t->n_calls) {
		t->min_ns = ns;
		t->is_min_stopped = n_stops > 0;
	}
	if (ns > t->max_ns || !t->n_calls) {
		t->max_ns = ns;
		t->is_max_stopped = n_stops > 0;
	}
	t->n_calls++;
	/* Made-up durations may add up to anything. */
	t->self_ns = (int64_t)((uint64_t)t->self_ns + ns);
	t->n_stopped += n_stops > 0;
	t->own_stops += n_stops;
}

/* Take from its own what a callee's call took. */
static inline void total_take(struct total *t, uint64_t ns, uint32_t n_stops)
{
	t->self_ns = (int64_t)((uint64_t)t->self_ns - ns);
	t->own_stops -= n_stops;
}

/* The rows, with their heading: totals has one for each key and one more for
 * what has no caller.  Returns how many there are. */
int64_t report_rows_put(const struct total *totals, const struct keys *keys,
			const struct cst_report *report, struct bytes *out,
			struct cst_error *err);

#endif
