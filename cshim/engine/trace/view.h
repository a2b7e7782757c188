/* SPDX-License-Identifier: MIT
 *
 * The calls of a trace that a choice shows, with their place in the visible
 * tree, one by one.
 */
#ifndef ENGINE_VIEW_H
#define ENGINE_VIEW_H

#include "names/filter.h"
#include "names/values.h"
#include "trace/walk.h"

/* No caller is visible. */
enum { CALLER_NONE = UINT32_MAX };

enum parent_kind { PARENT_NONE = 0, PARENT_CALL = 1, PARENT_SEED = 2 };

/* A visible call. */
struct shown {
	uint64_t start_ns;    /* since the trace began; seeds: 0 */
	uint64_t duration_ns; /* open calls: their age */
	uint64_t number;
	uint64_t parent_number;
	uint32_t parent_thread;
	uint32_t thread;
	uint32_t lane;
	uint32_t site;
	/* The site whose file and line are where its nearest visible caller
	 * called from: that of the hidden call below that caller, or its own,
	 * as it is where no caller is visible. */
	uint32_t from;
	uint32_t caller;  /* the function of that caller, or CALLER_NONE */
	uint32_t depth;	  /* of visible calls on its lane */
	uint32_t n_stops; /* how often gdb stopped the program meanwhile */
	uint32_t thrown;  /* as in struct packed_call */
	/* NULL: none.  Valid until another call is asked for. */
	const struct values *values;
	uint8_t end; /* enum call_end */
	uint8_t is_seed;
	uint8_t is_note;   /* no call but a span, a message, an exception... */
	uint8_t parent;	   /* enum parent_kind */
	uint8_t is_before; /* comes before the part that is viewed; a caller of
			      what follows */
	uint8_t is_marked; /* its row has a colour of its own */
};

struct view {
	struct shown *next, *end; /* what is ready */
};

/* Makes a view of the calls that the choice shows; its last and around are
 * ignored.  With is_by_lane they come lane after lane, else in order of start.
 * t is borrowed; the caller frees *out with view_free(). Returns 0 or a
 * negative status. */
int view_new(const struct cst_trace *t, const struct cst_choice *choice,
	     int is_by_lane, struct view **out, struct cst_error *err);
/* Makes a view of calls and spans only, without exceptions, messages and
 * whatever else takes no time. */
int view_new_calls(const struct cst_trace *t, const struct cst_choice *choice,
		   int is_by_lane, struct view **out, struct cst_error *err);
/* Makes any view one of calls and spans only, before its first call. */
void view_hide_instants(struct view *v);
/* Makes a view of a part of the trace.  Each lane begins with the callers of
 * its first call, marked is_before. */
int view_new_part(const struct cst_trace *t, const struct cst_choice *choice,
		  const struct walk_part *part, int is_by_lane,
		  struct view **out, struct cst_error *err);

/* Frees v, which may be NULL. */
void view_free(struct view *v);

/* Makes more calls ready, for view_peek(). Returns 1 if there are some, 0 at
 * the end, or a negative status. */
int view_more(struct view *v, struct cst_error *err);

/* Sets *out to the next call, which stays the next.  Returns 1; 0 at the end,
 * with *out NULL; or a negative status. */
static inline int view_peek(struct view *v, struct shown **out,
			    struct cst_error *err)
{
	int got = v->next < v->end ? 1 : view_more(v, err);

	*out = got > 0 ? v->next : NULL;
	return got;
}

/* Sets *out to the next call, which the caller may change until it asks for
 * another.  Returns 1, 0 at the end, or a negative status. */
static inline int view_next(struct view *v, struct shown **out,
			    struct cst_error *err)
{
	int got = view_peek(v, out, err);

	if (got > 0)
		v->next++;
	return got;
}

/* Returns a call's duration, so far if it is open, in ns.  For a call that was
 * open before the trace only what lies in the trace counts. */
static inline uint64_t call_duration_ns(const struct cst_trace *t,
					const struct packed_call *c,
					uint32_t lane)
{
	uint64_t ticks = c->duration;

	if (c->end == CALL_OPEN)
		ticks = t->lanes[lane].end_ticks - c->start;
	if (c->is_seed && c->start < t->start_ticks)
		ticks -= t->start_ticks - c->start;
	return (int64_t)ticks < 0 ? 0 : trace_ns(t, ticks);
}

/* Returns how many stops at gdb's prompt began within the call, so far if it is
 * open. */
uint32_t call_stops(const struct cst_trace *t, const struct packed_call *c,
		    uint32_t lane);

/* Returns whether a callback vetoed the call. */
static inline uint8_t shown_is_vetoed(const struct cst_trace *t,
				      const struct shown *s)
{
	return s->thrown && s->thrown <= t->names->n_functions &&
	       t->names->functions[s->thrown - 1].kind == KIND_VETO;
}

/* Returns whether the call has ended and its duration includes gdb's stops. */
static inline uint8_t shown_is_stopped(const struct shown *s)
{
	return s->n_stops && s->end != CALL_OPEN;
}

#endif
