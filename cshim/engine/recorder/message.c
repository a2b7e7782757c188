/* SPDX-License-Identifier: MIT
 *
 * Messages that gdb adds to the trace while the program is stopped.
 */
#include "calls/find_lane.h"
#include "recorder/drain.h"
#include "sites/own_place.h"

enum { ROUNDS_MAX = 64 };

/* 0: names are wanted first. */
static int take_all(struct cst_recorder *r)
{
	int taken = 1;

	for (int i = 0; i < ROUNDS_MAX && taken > 0; i++)
		taken = recorder_round(r, 1);
	return taken != ROUND_NAMES;
}

static struct thread *thread_of(struct cst_recorder *r, uint32_t pid,
				uint32_t tid)
{
	uint32_t process =
		area_expect(r->area, pid, r->sites.spaces.asker_from);

	return process == UINT32_MAX ? NULL
				     : threads_of_tid(&r->threads, &r->calls,
						      process, pid, tid, "");
}

int cst_recorder_depth(struct cst_recorder *r, uint32_t pid, uint32_t tid)
{
	struct thread *t = NULL;
	int depth;

	pthread_mutex_lock(&r->lock);
	if (r->writer && take_all(r))
		t = thread_of(r, pid ? pid : r->pid, tid);
	depth = t ? (int)stack_now(t)->n : -1;
	pthread_mutex_unlock(&r->lock);
	return depth;
}

static int put_message(struct cst_recorder *r, struct thread *t,
		       uint32_t call_site, const char *text)
{
	struct values *v = values_of_text(text);
	uint64_t now = clock_ticks();

	if (!v)
		return CST_MEMORY;
	if (!r->has_begun)
		recorder_begin_at(r, now);
	if (now > t->last_time)
		t->last_time = now;
	stack_note(&r->calls, t, stack_now(t), 0, call_site,
		   pauses_skip(&r->pauses, t->last_time), v);
	values_drop(v);
	return 0;
}

static int message_locked(struct cst_recorder *r, uint32_t pid, uint32_t tid,
			  uint32_t call_site, const char *text,
			  struct cst_error *err)
{
	struct thread *t;

	if (!r->writer)
		return cst_fail(CST_FAILED, err, "nothing is being recorded");
	if (!take_all(r))
		return 0;
	t = thread_of(r, pid ? pid : r->pid, tid);
	if (!t || call_site == UINT32_MAX ||
	    put_message(r, t, call_site, text) < 0)
		return cst_fail_memory(err);
	recorder_round(r, 1); /* its row goes out at once */
	return 1;
}

int cst_recorder_message(struct cst_recorder *r, uint32_t pid, uint32_t tid,
			 const char *file, uint32_t line,
			 const char *template_text, const char *text,
			 struct cst_error *err)
{
	int status;

	pthread_mutex_lock(&r->lock);
	status = message_locked(
		r, pid, tid,
		own_place_point(&r->sites, template_text, file, line), text,
		err);
	pthread_mutex_unlock(&r->lock);
	return status;
}
