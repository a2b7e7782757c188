/* SPDX-License-Identifier: MIT
 *
 * The trace's clock: ticks of the TSC, how long one lasts, and the pauses in
 * which the program stood still (in the debugger), which count for no duration.
 */
#ifndef ENGINE_CLOCK_H
#define ENGINE_CLOCK_H

#include <stdint.h>

/* Returns the TSC. */
uint64_t clock_ticks(void);
/* Returns the time since the epoch in ns. */
uint64_t clock_wall_ns(void);
/* Returns the kernel's monotonic time in ns. */
uint64_t clock_monotonic_ns(void);

/* Begins to measure the rate of the TSC, once per process; the longer before
 * clock_rate(), the more exact the rate. */
void clock_calibrate(void);
/* Returns the rate: ns = ticks * mult >> shift.  Sleeps until at least 8 ms
 * have passed since clock_calibrate(), which it calls itself if nobody did. */
void clock_rate(uint32_t *mult, uint32_t *shift);

struct pause {
	uint64_t begin, end; /* ticks; end UINT64_MAX: it still lasts */
	uint64_t before;     /* ticks of all earlier pauses */
};

struct pauses {
	struct pause *all;
	uint32_t n, cap;
	/* From tick `since` on, `total` ticks are left out; since is
	 * UINT64_MAX during a pause. */
	uint64_t since, total;
};

/* Begins a pause at that tick, unless one lasts.  When out of memory the pause
 * is not kept. */
void pauses_begin(struct pauses *p, uint64_t ticks);
/* Ends the pause at that tick.  Returns its length in ticks, or 0 if there was
 * none. */
uint64_t pauses_end(struct pauses *p, uint64_t ticks);
/* Adds a pause that has ended, anywhere in the past; pauses that it overlaps
 * are joined with it. */
void pauses_insert(struct pauses *p, uint64_t begin, uint64_t end);
/* Frees the memory of p and zeroes it. */
void pauses_release(struct pauses *p);

/* Returns whether a pause began after start and before end; both are ticks that
 * pauses_skip() returned. */
int pauses_are_within(const struct pauses *p, uint64_t start, uint64_t end);

/* Does what pauses_skip() does, for ticks before the end of the last pause. */
uint64_t pauses_skip_old(const struct pauses *p, uint64_t ticks);

/* Returns ticks less the length of all pauses before; a tick within a pause
 * counts as its begin. */
static inline uint64_t pauses_skip(const struct pauses *p, uint64_t ticks)
{
	if (__builtin_expect(ticks >= p->since, 1))
		return ticks - p->total;
	return pauses_skip_old(p, ticks);
}

#endif
