/* SPDX-License-Identifier: MIT
 *
 * Asks the kernel which threads have ended, and unwinds the calls that they had
 * open.
 */
#include "recorder/thread_ends.h"
#include "area/area_users.h"
#include "calls/find_lane.h"
#include "calls/tails.h"

#include <string.h>

enum {
	MARK_MS = 100,
};

/* The thread reported its end, by way of libc; a call since then has withdrawn
 * that. */
static int thread_reported_end(const struct area *a, uint32_t thread)
{
	return (int)__atomic_load_n(&a->threads[thread].is_ended,
				    __ATOMIC_ACQUIRE);
}

/* What was asked of a process, once for all its threads. */
struct asked {
	uint32_t pid;
	uint8_t goes_on, is_same; /* the program */
};

static void ask(struct asked *q, const struct area *a, uint32_t pid)
{
	if (q->pid == pid)
		return;
	q->pid = pid;
	q->goes_on = a->is_elsewhere ? !a->has_ended
				     : (uint8_t)process_ends_goes_on(pid);
	/* An exec has unmapped it.  The new program's entry in the area comes
	 * with its first call, which may be long after. */
	q->is_same = q->goes_on && area_is_held(a, pid);
}

/* An exec ends the other threads too, and so does the end of the process: what
 * was open then stays open.  After it nobody but the thread can tell; nor can
 * the kernel of the first one, which it keeps for as long as there are others.
 */
static int thread_was_left(const struct area *a, const struct thread *t,
			   struct asked *q)
{
	int has_ended = area_thread_has_ended(a, t->area_index);
	int has_reported = thread_reported_end(a, t->area_index);

	if (!has_ended && !has_reported)
		return 0;
	ask(q, a, a->processes[t->process].pid);
	if (!area_has_execed(a, t->process) && q->goes_on)
		return has_ended && (has_reported || q->is_same);
	return has_reported;
}

/* When the thread ended, which is not before its last record. */
static uint64_t thread_end(const struct area *a, const struct thread *t)
{
	uint64_t end = __atomic_load_n(&a->threads[t->area_index].end,
				       __ATOMIC_RELAXED);
	uint64_t now = clock_ticks();

	if (!thread_reported_end(a, t->area_index) || end > now)
		end = now;
	return end > t->last_time ? end : t->last_time;
}

/* Is it in the area, with calls open? */
static int thread_is_at_it(const struct thread *t)
{
	return !t->ended_at && t->own->n && t->area_index < CST_MAX_THREADS;
}

void thread_ends_mark(struct cst_recorder *r, int is_last)
{
	uint64_t now = clock_monotonic_ns();
	struct asked asked = {0};

	if (!is_last && now - r->last_mark_ns < MARK_MS * 1000000ull)
		return;
	r->last_mark_ns = now;
	process_ends_look(r, is_last);
	for (uint32_t i = 0; i < r->threads.n; i++) {
		struct thread *t = r->threads.all[i];

		if (thread_is_at_it(t) && thread_was_left(r->area, t, &asked))
			t->ended_at = thread_end(r->area, t);
	}
}

void thread_ends_mark_ended(struct cst_recorder *r)
{
	process_ends_look_back(r);
	for (uint32_t i = 0; i < r->threads.n; i++) {
		struct thread *t = r->threads.all[i];

		if (thread_is_at_it(t) &&
		    thread_reported_end(r->area, t->area_index))
			t->ended_at = thread_end(r->area, t);
	}
}

static int is_over(const struct cst_recorder *r, uint32_t process)
{
	return process < r->lives.n && r->lives.all[process].end;
}

void thread_ends_unwind(struct cst_recorder *r)
{
	for (uint32_t i = 0; i < r->threads.n; i++) {
		struct thread *t = r->threads.all[i];

		if (t->ended_at || is_over(r, t->process))
			tails_give_up(&r->calls, t, t->current);
		if (t->ended_at && t->own->n)
			stack_unwind(&r->calls, t, t->own, 0,
				     pauses_skip(&r->pauses, t->ended_at));
	}
}
