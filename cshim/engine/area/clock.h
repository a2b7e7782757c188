/* SPDX-License-Identifier: MIT
 *
 * The trace's clock: ticks of the TSC, their length, and the time that the
 * program spent stopped, which is in no duration.
 */
#ifndef ENGINE_CLOCK_H
#define ENGINE_CLOCK_H

#include <stdint.h>

uint64_t clock_ticks(void);
uint64_t clock_wall_ns(void);
uint64_t clock_monotonic_ns(void);

/* Start the measuring; the longer before clock_rate(), the truer the rate. */
void clock_calibrate(void);
/* ns = ticks * mult >> shift. Waits until 8 ms since clock_calibrate(). */
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

void pauses_begin(struct pauses *p, uint64_t ticks);
/* Returns the length in ticks of the pause that ended, or 0. */
uint64_t pauses_end(struct pauses *p, uint64_t ticks);
/* A pause that is over; those that it meets become one with it. */
void pauses_insert(struct pauses *p, uint64_t begin, uint64_t end);
void pauses_release(struct pauses *p);

/* Did a pause begin after start and before end, both with pauses left out? */
int pauses_are_within(const struct pauses *p, uint64_t start, uint64_t end);

uint64_t pauses_skip_old(const struct pauses *p, uint64_t ticks);

/* A time with the pauses left out. */
static inline uint64_t pauses_skip(const struct pauses *p, uint64_t ticks)
{
	if (__builtin_expect(ticks >= p->since, 1))
		return ticks - p->total;
	return pauses_skip_old(p, ticks);
}

#endif
