/* SPDX-License-Identifier: MIT */
#include "gone.h"
#include "lanes.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
	MARK_MS = 100,
	EXITING = 4, /* PF_EXITING, of the kernel's */
};

/* Neither dead nor dying: when all end at once, the others are not gone before
 * this can be seen. */
static int process_goes_on(uint32_t pid)
{
	unsigned long long flags = 0, pending = 0;
	char path[32], text[1024], state = 0;
	const char *at;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	at = strrchr(text, ')'); /* the name before it may hold anything */
	/* State, five fields, flags; 21 fields, pending signals. */
	if (!at ||
	    sscanf(at + 1,
		   " %c %*s %*s %*s %*s %*s %llu %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%llu",
		   &state, &flags, &pending) != 3)
		return 0;
	return !strchr("ZX", state) && !(flags & EXITING) &&
	       !(pending & 1ull << (SIGKILL - 1));
}

/* An exec ends the other threads too; what was open then stays open. */
static int thread_was_left(const struct cst_recorder *r, const struct thread *t)
{
	return area_thread_is_gone(r->area, t->area_index) &&
	       !area_has_execed(r->area, t->process) &&
	       process_goes_on(r->area->processes[t->process].pid);
}

void gone_mark(struct cst_recorder *r, int is_last)
{
	uint64_t now = clock_monotonic_ns();

	if (!is_last && now - r->last_mark_ns < MARK_MS * 1000000ull)
		return;
	r->last_mark_ns = now;
	for (uint32_t i = 0; i < r->crew.n; i++) {
		struct thread *t = r->crew.all[i];

		if (!t->gone_at && t->own->n && t->area_index != UINT32_MAX &&
		    t->area_index < CST_MAX_THREADS && thread_was_left(r, t))
			t->gone_at = clock_ticks();
	}
}

void gone_unwind(struct cst_recorder *r)
{
	for (uint32_t i = 0; i < r->crew.n; i++) {
		struct thread *t = r->crew.all[i];

		if (t->gone_at && t->own->n)
			stack_unwind(&r->calls, t, t->own, 0,
				     pauses_skip(&r->pauses, t->gone_at));
	}
}
