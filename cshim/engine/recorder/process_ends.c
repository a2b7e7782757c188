/* SPDX-License-Identifier: MIT
 *
 * Asks the kernel from time to time which processes have ended, and reports the
 * ends to the trace's writer.
 */
#include "recorder/process_ends.h"
#include "base/array.h"
#include "recorder/recorder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXITING = 4 }; /* PF_EXITING, of the kernel's */

/* Neither dead nor dying: when all end at once, the others are not gone before
 * this can be seen. */
int process_ends_goes_on(uint32_t pid)
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

void process_ends_release(struct process_ends *l)
{
	free(l->all);
	*l = (struct process_ends){0};
}

static struct life *life_of(struct process_ends *l, uint32_t process)
{
	if (array_room(&l->all, &l->cap, process + 1ull) < 0)
		return NULL;
	if (process >= l->n)
		l->n = process + 1;
	return &l->all[process];
}

/* What their threads have come to. */
static void take_stock(struct cst_recorder *r)
{
	for (uint32_t i = 0; i < r->lives.n; i++)
		r->lives.all[i].has_open = 0;
	for (uint32_t i = 0; i < r->threads.n; i++) {
		const struct thread *t = r->threads.all[i];
		struct life *life = t->area_index < CST_MAX_THREADS
					    ? life_of(&r->lives, t->process)
					    : NULL;

		if (!life)
			continue;
		if (t->last_time > life->last)
			life->last = t->last_time;
		life->has_open |= t->current->n != 0;
	}
}

/* Returns the tick that the process wrote in libc's exit(), or 0. */
static uint64_t reported_end(const struct area *a, uint32_t process)
{
	return __atomic_load_n(&a->processes[process].end, __ATOMIC_ACQUIRE);
}

static uint32_t pid_of(const struct area *a, uint32_t process)
{
	return __atomic_load_n(&a->processes[process].pid, __ATOMIC_ACQUIRE);
}

static void life_end(struct life *life, uint64_t reported)
{
	uint64_t now = clock_ticks();

	life->end = reported && reported < now ? reported : life->seen;
	if (life->end < life->last)
		life->end = life->last;
}

/* The trace is the first process's, whatever it has become by exec. */
static int is_first(const struct area *a, uint32_t process)
{
	return pid_of(a, process) == pid_of(a, 0) &&
	       !area_has_execed(a, process);
}

static int goes_on(const struct area *a, uint32_t process)
{
	if (area_has_execed(a, process))
		return 0;
	if (a->is_elsewhere)
		return !a->has_ended && !reported_end(a, process);
	return process_ends_goes_on(pid_of(a, process));
}

void process_ends_look(struct cst_recorder *r, int is_last)
{
	take_stock(r);
	for (uint32_t i = 0; i < r->lives.n && i < CST_MAX_PROCESSES; i++) {
		struct life *life = &r->lives.all[i];
		uint64_t now = clock_ticks(); /* it may end while we ask */

		if (!life->has_open || life->end)
			continue;
		if (goes_on(r->area, i))
			life->seen = now;
		else if (!is_last || !is_first(r->area, i))
			life_end(life, reported_end(r->area, i));
		r->lives.has_news |= life->end != 0;
	}
}

void process_ends_look_back(struct cst_recorder *r)
{
	take_stock(r);
	for (uint32_t i = 0; i < r->lives.n && i < CST_MAX_PROCESSES; i++)
		if (r->lives.all[i].has_open && !is_first(r->area, i))
			life_end(&r->lives.all[i], reported_end(r->area, i));
}

void process_ends_tell(struct cst_recorder *r)
{
	r->lives.has_news = 0;
	for (uint32_t i = 0; i < r->lives.n; i++) {
		struct life *life = &r->lives.all[i];
		uint64_t end = life->end > life->last ? life->end : life->last;

		if (!life->has_open || !life->end || life->reported == end)
			continue;
		life->reported = end;
		writer_process_end(r->writer, i + 1,
				   pauses_skip(&r->pauses, end));
	}
}
