/* SPDX-License-Identifier: MIT
 *
 * The sums of calls that have something in common: a function, a thread, a path
 * of functions.  A call's own time is what its callees leave of it.  Time
 * counts once in the total where calls of the same lie in each other
 * (recursion).
 */
#ifndef ENGINE_TOTAL_H
#define ENGINE_TOTAL_H

#include <stddef.h>
#include <stdint.h>

struct total {
	uint64_t n_calls, total_ns, min_ns, max_ns;
	int64_t self_ns;
	/* Calls that gdb stopped the program in, and how often it did so in the
	 * function's own code. */
	uint64_t n_stopped;
	int64_t own_stops;
	uint32_t outermost; /* level of its last call that lay in no other one
			     * of its own, and one more; 0: there was none */
	uint8_t is_min_stopped, is_max_stopped;
	uint32_t size_bytes; /* of the function's code; 0: not known */
	uint32_t error_ppm;  /* of its share, if it is one of samples */
	uint64_t n_samples;
};

/* Made-up durations may add up to anything. */
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
	t->self_ns = (int64_t)((uint64_t)t->self_ns + ns);
	t->n_stopped += n_stops > 0;
	t->own_stops += n_stops;
}

/* Count a call at this level, 0 or more, whose total is `key`.  The totals of
 * the open calls around it are keys[0], ...: numbers that are stride bytes
 * apart.  1: it lies in no other of its own. */
static inline int total_enter(struct total *t, uint64_t ns, uint32_t n_stops,
			      uint32_t level, const void *keys, size_t stride,
			      uint32_t key)
{
	uint32_t n = t->outermost;

	total_add(t, ns, n_stops);
	if (n && n <= level &&
	    *(const uint32_t *)((const char *)keys + (n - 1) * stride) == key)
		return 0;
	t->total_ns += ns;
	t->outermost = level + 1;
	return 1;
}

/* Take from its own what a callee's call took. */
static inline void total_take(struct total *t, uint64_t ns, uint32_t n_stops)
{
	t->self_ns = (int64_t)((uint64_t)t->self_ns - ns);
	t->own_stops -= n_stops;
}

#endif
