/* SPDX-License-Identifier: MIT
 *
 * A loop that only looks at the clock sees each interrupt as a gap.
 */
#include "recorder/interrupt_cost.h"
#include "area/clock.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PERIOD_NS = 100000,
	N_PERIODS = 20,
	N_GAPS = 15, /* the longest; the kernel's own interrupts are fewer */
	BUDGET_NS = 1000000000 / 50, /* of a second */
	TICK_HZ = 250,
	/* A second with an event costs as much as so many interrupts more: it
	 * is taken off and put on at each switch of threads, some 400 times on
	 * a busy machine, and the handler finds nothing of its own in the
	 * caches. */
	BESIDES = 800,
};

/* Keeps the longest gaps, the longest first. */
static void gap_add(uint64_t *gaps, uint64_t gap)
{
	int at = N_GAPS;

	for (; at > 0 && gaps[at - 1] < gap; at--)
		if (at < N_GAPS)
			gaps[at] = gaps[at - 1];
	if (at < N_GAPS)
		gaps[at] = gap;
}

static int event_open(void)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = PERIOD_NS;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static uint64_t to_ticks(uint64_t ns, uint32_t mult, uint32_t shift)
{
	return (uint64_t)(((unsigned __int128)ns << shift) / (mult ? mult : 1));
}

/* For so many ticks of its own: a longer gap is another thread's. */
static void look_at_clock(uint64_t ticks, uint64_t period, uint64_t *gaps)
{
	uint64_t last = clock_ticks(), until = last + ticks, now;

	for (; last < until; last = now) {
		now = clock_ticks();
		if (now - last < period)
			gap_add(gaps, now - last);
		else
			until += now - last;
	}
}

uint64_t interrupt_cost_ns(void)
{
	uint64_t gaps[N_GAPS] = {0}, period;
	uint32_t mult, shift;
	int fd = event_open();

	if (fd < 0)
		return 0;
	clock_rate(&mult, &shift);
	period = to_ticks(PERIOD_NS, mult, shift);
	look_at_clock(N_PERIODS * period, period, gaps);
	close(fd);
	/* With the signal it is three times as much: that comes by another
	 * interrupt. */
	return (uint64_t)(((unsigned __int128)gaps[N_GAPS / 2] * mult) >>
			  shift) *
	       3;
}

uint32_t interrupt_samples(uint64_t cost_ns, uint32_t hz)
{
	uint32_t each = 1;

	while (cost_ns * (hz / each + BESIDES) > BUDGET_NS)
		if (hz / ++each + 1 < TICK_HZ)
			return 0;
	return each;
}
