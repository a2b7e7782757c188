/* SPDX-License-Identifier: MIT
 *
 * What gdb adds to the trace while the program is stopped: messages, and
 * colours of calls.
 */
#include "calls/find_lane.h"
#include "names/marks.h"
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
			 const char *file, uint32_t line, const char *word,
			 const char *template_text, const char *text,
			 struct cst_error *err)
{
	int status;

	pthread_mutex_lock(&r->lock);
	status = message_locked(
		r, pid, tid,
		own_place_point(&r->sites, word, template_text, file, line),
		text, err);
	pthread_mutex_unlock(&r->lock);
	return status;
}

/* The innermost open call, or the one that the thread has left last: its place
 * on the stack still has it. */
static struct open_call *call_at(const struct thread *t, int has_ended)
{
	struct stack *s = t->current;

	if (has_ended)
		return s->n < s->cap ? &s->calls[s->n] : NULL;
	return s->n ? &s->calls[s->n - 1] : NULL;
}

int cst_recorder_mark(struct cst_recorder *r, uint32_t pid, uint32_t tid,
		      int has_ended, enum cst_color color,
		      struct cst_error *err)
{
	struct open_call *o = NULL;
	struct thread *t = NULL;
	int status = 0, is_known;

	pthread_mutex_lock(&r->lock);
	r->live.is_held = 1;
	is_known = r->writer && take_all(r);
	r->live.is_held = 0;
	if (is_known)
		t = thread_of(r, pid ? pid : r->pid, tid);
	if (t && t->current)
		o = call_at(t, has_ended);
	if (o && !o->is_seed)
		status = marks_set(r->names, t->process + 1, t->ordinal,
				   o->number, color);
	if (o && has_ended && status == 0)
		live_mark_ended(&r->live, t, t->current, o);
	pthread_mutex_unlock(&r->lock);
	return status < 0 ? cst_fail_memory(err) : is_known || !r->writer;
}
