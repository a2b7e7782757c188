/* SPDX-License-Identifier: MIT
 *
 * Spans, messages, counters and calls by macro.  A record's values are texts
 * just before it, in the same chunk.
 */
#include "program/own.h"
#include "core/chunk.h"
#include "core/depth.h"
#include "core/event.h"
#include "core/open_calls.h"
#include "core/site.h"
#include "core/sync.h"
#include "core/watch.h"
#include "kernel/arch.h"
#include "program/kept_spans.h"
#include "program/place.h"
#include "program/values.h"

/* A kind of cstrace.h's may have this beside an enum cst_kind. */
enum { CAN_VETO = 1 << 8 };

/* Where it happened. */
struct from {
	uint64_t caller; /* of the function, if it reports its calls */
	uint64_t sp;	 /* stack pointer before the call of the shim */
	uint64_t code;	 /* in the place */
};

/* The place that calls the function in which this stands. */
#define HERE                                                                \
	((struct from){(uint64_t)__builtin_return_address(0), callers_sp(), \
		       (uint64_t)__builtin_return_address(0)})

struct event {
	struct cstrace_place *place;
	enum cst_kind kind;
	struct from from;
	const struct cstrace_value *values;
	uint32_t n_values;
};

static int is_end(enum cst_kind kind)
{
	return kind == CST_SPAN_END || kind == CST_CALL_END ||
	       kind == CST_ASYNC_END || kind == CST_VETO;
}

static uint32_t site_of(const struct event *e)
{
	struct site_key key = {
		(uint64_t)e->place | is_end(e->kind), e->from.caller,
		place_text(e->place, e->from.code, e->kind == CST_CALL)};

	/* Each copy that is inlined has a call line of its own. */
	if (e->kind == CST_CALL)
		key.callee = e->from.code;
	/* A function's call ends in one of two ways, at one place. */
	if (e->kind == CST_VETO)
		key.callee |= 2;
	return site_intern(&key, e->kind);
}

static uint64_t six_bytes(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 5; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

/* Returns its time, or 0: it is not recorded. */
static uint64_t record(const struct event *e)
{
	uint8_t bytes[CST_VALUES_MAX + CST_TEXT_BYTES];
	uint32_t state = event_state(), n = 0, n_texts, site;
	struct cst_record *r;
	uint64_t time;

	if (!state_is_on(state) || chunk_is_busy())
		return 0;
	/* An end's is this; a begin's is without what comes before it. */
	time = is_end(e->kind) ? clock_ticks() : 0;
	site = site_of(e);
	if (!site || site_is_muted(site))
		return 0;
	if (e->n_values)
		n = values_put(e->values, e->n_values,
			       e->kind == CST_MESSAGE ? e->place->name : NULL,
			       bytes + CST_TEXT_BYTES);
	n_texts = (n + CST_TEXT_BYTES - 1) / CST_TEXT_BYTES;
	depth_tell();
	r = chunk_slots(n_texts + 1);
	if (!r)
		return 0;
	if (!time)
		time = clock_ticks();
	/* The texts end with the values. */
	for (uint32_t i = 0; i < n_texts; i++) {
		const uint8_t *from = bytes + CST_TEXT_BYTES + n -
				      (n_texts - i) * CST_TEXT_BYTES;

		cst_record_set(r + i, time, CST_TEXT, six_bytes(from),
			       six_bytes(from + 6));
	}
	cst_record_set(r + n_texts, time, site, e->from.sp, n);
	if (state == CST_STATE_SYNC)
		sync_event((uint64_t)e->place, e->from.caller,
			   is_end(e->kind) ? CST_EXIT : CST_ENTER);
	return time;
}

static struct watched_call watched(const struct event *e, uint32_t kind)
{
	return (struct watched_call){.callee = (uint64_t)e->place,
				     .caller = e->from.caller,
				     .sp = e->from.sp,
				     .kind = kind,
				     .place = e->place,
				     .values = e->values,
				     .n_values = e->n_values};
}

/* Returns whether a callback vetoed. */
static int watch_begin(const struct event *e, struct cstrace_span *span,
		       int can_veto)
{
	struct watched_call w = watched(e, e->kind);
	struct open_call *o;
	int result;

	w.can_veto = (uint32_t)can_veto;
	result = watch_enter(&w, &o);
	if (e->kind == CST_SPAN)
		span->kept = kept_spans_begin(e->place, o ? o->level : 0);
	return result;
}

int own_begin(struct cstrace_span *span, struct cstrace_place *place,
	      uint32_t kind, const void *caller,
	      const struct cstrace_value *values, uint32_t n)
{
	struct event e = {.place = place,
			  .kind = kind & ~(uint32_t)CAN_VETO,
			  .from = HERE,
			  .values = values,
			  .n_values = n};
	int veto = 0, is_watched = watch_any() || self.callback_sp;
	uint64_t time;

	if (caller)
		e.from.caller = (uint64_t)caller;

	span->place = NULL;
	span->kept = 0;
	if (is_watched && watch_is_quiet())
		return 0;
	if (is_watched)
		veto = watch_begin(&e, span, (kind & CAN_VETO) != 0);
	time = record(&e);
	if (!is_watched && !time)
		return 0;
	span->is_recorded = time != 0;
	span->place = place;
	span->kind = e.kind;
	if (e.kind == CST_CALL)
		span->kept = e.from.caller;
	span->start = time ? time : clock_ticks();
	if (!veto)
		return 0;
	/* Callbacks see its exit; the tree sees why. */
	e.kind = CST_VETO;
	e.values = NULL;
	e.n_values = 0;
	if (span->is_recorded)
		record(&e);
	span->is_recorded = 0;
	own_end(span, NULL, 0);
	return 1;
}

void own_end(struct cstrace_span *span, const struct cstrace_value *values,
	     uint32_t n)
{
	struct event e = {.place = span->place,
			  .kind = span->kind + 1,
			  .from = HERE,
			  .values = values,
			  .n_values = n};
	struct watched_call w;

	if (span->kind == CST_CALL)
		e.from.caller = span->kept;

	span->place = NULL;
	if (self.callback_sp && watch_is_quiet())
		return;
	if (span->is_recorded)
		record(&e);
	if (span->kind == CST_SPAN && span->kept)
		kept_spans_end(span->kept);
	if (!watch_any() || watch_is_quiet())
		return;
	w = watched(&e, span->kind);
	w.caller = 0; /* whichever it was */
	watch_exit(&w, NULL);
}

void own_tell(struct cstrace_place *place, uint32_t kind,
	      const struct cstrace_value *values, uint32_t n)
{
	const struct event e = {.place = place,
				.kind = kind,
				.from = HERE,
				.values = values,
				.n_values = n};

	if ((watch_any() || self.callback_sp) && watch_is_quiet())
		return;
	record(&e);
	if (kind == CST_ASYNC)
		kept_spans_begin_async(place, values->bits);
	else if (kind == CST_ASYNC_END)
		kept_spans_end_async(place, values->bits);
}

uint64_t own_elapsed(const struct cstrace_span *span)
{
	uint64_t now = clock_ticks();

	return watch_ns(now - span->start);
}
