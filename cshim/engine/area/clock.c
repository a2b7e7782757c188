/* SPDX-License-Identifier: MIT
 *
 * Reads the clocks, measures the length of a tick, and keeps the pauses of a
 * trace as a sorted list that is searched from its end.
 */
#include "area/clock.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

/* Each moment is known to about 25 ns: a rate to about 6 millionths. */
enum { CALIBRATION_NS = 8000000 };

static uint64_t first_ticks, first_ns;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t clock_ticks(void)
{
	return __rdtsc();
}

uint64_t clock_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

uint64_t clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Ticks and time of one instant: the pair that was read fastest of some. */
static void clock_pair(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = clock_ticks();
		uint64_t now = clock_monotonic_ns();
		uint64_t after = clock_ticks();

		if (after - before >= best)
			continue;
		best = after - before;
		*ticks = before + best / 2;
		*ns = now;
	}
}

void clock_calibrate(void)
{
	if (!first_ticks)
		clock_pair(&first_ticks, &first_ns);
}

void clock_rate(uint32_t *mult, uint32_t *shift)
{
	uint64_t ticks = 0, ns = 0;

	clock_calibrate();
	while (clock_monotonic_ns() - first_ns < CALIBRATION_NS) {
		struct timespec rest = {.tv_nsec = 1000000};

		nanosleep(&rest, NULL);
	}
	clock_pair(&ticks, &ns);
	*shift = 31;
	*mult = (uint32_t)(((unsigned __int128)(ns - first_ns) << *shift) /
			   (ticks - first_ticks));
}

static int pauses_room(struct pauses *p)
{
	return array_room(&p->all, &p->cap, p->n + 1ull);
}

void pauses_begin(struct pauses *p, uint64_t ticks)
{
	if ((p->n && p->all[p->n - 1].end == UINT64_MAX) || pauses_room(p) < 0)
		return;
	p->all[p->n++] = (struct pause){
		.begin = ticks,
		.end = UINT64_MAX,
		.before = p->total,
	};
	p->since = UINT64_MAX;
}

uint64_t pauses_end(struct pauses *p, uint64_t ticks)
{
	struct pause *last = p->n ? &p->all[p->n - 1] : NULL;

	if (!last || last->end != UINT64_MAX)
		return 0;
	last->end = ticks > last->begin ? ticks : last->begin;
	p->since = last->end;
	p->total = last->before + (last->end - last->begin);
	return last->end - last->begin;
}

static void pauses_sum(struct pauses *p, uint32_t from)
{
	p->total = from ? p->all[from - 1].before + p->all[from - 1].end -
				   p->all[from - 1].begin
			: 0;
	p->since = from ? p->all[from - 1].end : 0;
	for (uint32_t i = from; i < p->n; i++) {
		struct pause *a = &p->all[i];

		a->before = p->total;
		p->since = a->end;
		if (a->end != UINT64_MAX)
			p->total += a->end - a->begin;
	}
}

void pauses_insert(struct pauses *p, uint64_t begin, uint64_t end)
{
	uint32_t first = p->n, after;

	while (first && p->all[first - 1].end > begin)
		first--;
	for (after = first; after < p->n && p->all[after].begin < end;
	     after++) {
		if (p->all[after].begin < begin)
			begin = p->all[after].begin;
		if (p->all[after].end > end)
			end = p->all[after].end;
	}
	if (after == first && pauses_room(p) < 0)
		return;
	memmove(&p->all[first + 1], &p->all[after],
		(p->n - after) * sizeof(*p->all));
	p->n = first + 1 + (p->n - after);
	p->all[first] = (struct pause){.begin = begin, .end = end};
	pauses_sum(p, first);
}

void pauses_release(struct pauses *p)
{
	free(p->all);
	*p = (struct pauses){0};
}

uint64_t pauses_skip_old(const struct pauses *p, uint64_t ticks)
{
	/* From the newest back: a record is rarely older than the last stop. */
	for (uint32_t i = p->n; i > 0; i--) {
		const struct pause *a = &p->all[i - 1];

		if (ticks >= a->end)
			return ticks - a->before - (a->end - a->begin);
		if (ticks >= a->begin)
			return a->begin - a->before;
	}
	return ticks;
}

int pauses_are_within(const struct pauses *p, uint64_t start, uint64_t end)
{
	/* From the newest back, as above. */
	for (uint32_t i = p->n; i > 0; i--) {
		uint64_t at = p->all[i - 1].begin - p->all[i - 1].before;

		if (at <= start)
			return 0;
		if (at < end)
			return 1;
	}
	return 0;
}
