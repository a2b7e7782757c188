/* SPDX-License-Identifier: MIT
 *
 * This loop is what a traced call costs the reader, so what cannot change
 * within a run is asked before it: where calls go, that their numbers follow
 * each other, which times need no care.
 */
#include "calls/fast_path.h"

#include "args/codes.h"
#include "calls/callstack.h"
#include "calls/find_lane.h"
#include "calls/record_text.h"
#include "calls/tails.h"

/* A run under way; the compiler keeps its fields in registers. */
struct run_state {
	struct open_call *top;		 /* the innermost */
	struct open_call *bottom, *last; /* of the memory for them */
	/* The innermost that has values of its own or is a tail call, or the
	 * bottom: to end it takes more. */
	struct open_call *floor;
	struct lane *lane;
	uint64_t from;	  /* no time is earlier */
	uint64_t paused;  /* ticks left out of each time */
	uint64_t reach;	  /* the callstack's */
	uint64_t n_calls; /* of the thread */
	/* Shorter calls are not kept; so many of them have ended. */
	uint64_t keep_ticks, n_dropped;
	uint32_t numberer;	       /* the thread's index */
	const struct modules *modules; /* NULL: not asked for */
};

/* Finds the floor. */
INLINE void run_set_floor(struct run_state *run, const struct stack *s)
{
	run->floor = run->bottom;
	if (unlikely(s->n_valued))
		run->floor += s->valued[s->n_valued - 1].call;
	if (unlikely(s->n_tails) &&
	    run->floor <= run->bottom + s->tails[s->n_tails - 1].call)
		run->floor = run->bottom + s->tails[s->n_tails - 1].call + 1;
}

static int run_begin(struct run_state *run, const struct callstack *c,
		     const struct thread *t)
{
	struct stack *s = t->current;

	if (!s->n || !s->lane || t->heir_of || tails_is_top(s) || s->n_flying ||
	    t->quiet_sp || c->listener.entered ||
	    (c->keep_depth && s->n > c->keep_depth) ||
	    (!c->keep_ticks &&
	     !lane_is_plain(s->lane, t->n_calls + 1, t->index)))
		return 0;
	*run = (struct run_state){
		.top = &s->calls[s->n - 1],
		.bottom = s->calls,
		/* What lies deeper than is kept goes the long way. */
		.last = &s->calls[c->keep_depth && c->keep_depth < s->cap
					  ? c->keep_depth - 1
					  : s->cap - 1],
		.lane = s->lane,
		/* A time of 0 is none. */
		.from = t->last_time ? t->last_time : 1,
		.paused = c->pauses->total,
		.reach = c->reach,
		.n_calls = t->n_calls,
		.keep_ticks = c->keep_ticks,
		.numberer = t->index,
	};
	if (run->from < c->begin_ticks)
		run->from = c->begin_ticks;
	if (run->from < c->pauses->since)
		run->from = c->pauses->since;
	run_set_floor(run, s);
	return 1;
}

static void run_end(const struct run_state *run, struct callstack *c,
		    struct thread *t)
{
	struct stack *s = t->current;

	s->n = (uint32_t)(run->top + 1 - run->bottom);
	if (s->n_shown > s->n)
		s->n_shown = s->n;
	c->n_calls += run->n_calls - t->n_calls;
	c->n_dropped += run->n_dropped;
	t->n_calls = run->n_calls;
	if (unlikely(s->n_tails))
		tails_end(c, t, s, run->from - run->paused);
}

/* The innermost open call is the caller; or has the function inlined. */
INLINE int is_plain_entry(const struct run_state *run, const struct site *site,
			  uint64_t cfa)
{
	const struct open_call *top = run->top;

	if (unlikely(top->cfa == cfa))
		return top->site && top->site == site->joined;
	return top->cfa - cfa < run->reach &&
	       top->physical == site->caller_physical;
}

/* waits: the call enters its lane when it has lasted. */
INLINE int run_enter(struct run_state *run, const struct site *site,
		     uint32_t number, uint64_t cfa, uint64_t time, int waits)
{
	struct open_call *o = run->top + 1;

	if (unlikely(!is_plain_entry(run, site, cfa) || run->top == run->last ||
		     (!waits && run->lane->n == run->lane->cap)))
		return 0;
	o->cfa = cfa;
	o->start = time;
	o->function = site->function;
	o->physical = site->physical;
	o->call_site = site->call_site;
	o->site = number;
	o->is_near = site->is_near;
	o->is_seed = 0;
	o->is_listed = 0;
	o->is_tailed = 0;
	if (waits) {
		o->seq = NO_SEQ;
		o->is_pending = 1;
		o->numberer = run->numberer;
	} else {
		o->seq = lane_enter(run->lane, time, site->call_site);
	}
	run->top = o;
	o->number = ++run->n_calls;
	return 1;
}

/* Ends what the calls at the floor had, and the calls whose tail call has
 * returned: at `time`.  Returns 0 if no call is open, or one of these is not
 * kept so far. */
static __attribute__((noinline)) int
run_pass_floor(struct run_state *run, struct stack *s, uint64_t time, int waits)
{
	s->n = (uint32_t)(run->top + 1 - run->bottom);
	for (; tails_is_top(s) && !waits; s->n--) {
		lane_exit(run->lane, run->top->seq, time, CALL_RETURN);
		run->top--;
		s->n_tails--;
	}
	stack_drop_values(s);
	run_set_floor(run, s);
	return s->n != 0 && run->lane->n && !tails_is_top(s);
}

enum taken { NOT_TAKEN, TAKEN, TAKEN_AS_LAST };

/* Ends the innermost call, if it is this one.  Returns whether it is. */
INLINE int run_end_call(struct run_state *run, const struct site *site,
			uint64_t cfa, uint64_t time, int waits)
{
	const struct open_call *o = run->top;

	if (unlikely(o->function != site->function || o->cfa != cfa))
		return 0;
	if (waits) {
		if (unlikely(!o->is_pending ||
			     (time > o->start &&
			      time - o->start >= run->keep_ticks)))
			return 0;
		run->n_dropped++;
	} else {
		lane_exit(run->lane, o->seq, time > o->start ? time : o->start,
			  CALL_RETURN);
	}
	run->top--;
	return 1;
}

/* Behind that call's end, and what it returned.  Where nothing is open behind
 * it, or a late end filled the block, as the next one is begun the long way, it
 * is the last one of the run. */
INLINE enum taken run_left(struct run_state *run, struct stack *s,
			   uint64_t time, int waits)
{
	const struct open_call *o = run->top + 1;

	if (unlikely(run->top < run->floor) &&
	    !run_pass_floor(run, s, time > o->start ? time : o->start, waits))
		return TAKEN_AS_LAST;
	return !waits && unlikely(!run->lane->n) ? TAKEN_AS_LAST : TAKEN;
}

/* The innermost call ends by a jump: what comes next tells how. */
static enum taken run_jump(const struct run_state *run, struct stack *s,
			   const struct site *site, uint32_t number,
			   uint64_t cfa, uint64_t time)
{
	const struct frame f = {
		.site = site, .number = number, .cfa = cfa, .time = time};

	s->n = (uint32_t)(run->top + 1 - run->bottom);
	return run->top->function == site->function && run->top->cfa == cfa &&
			       tails_wait(s, &f)
		       ? TAKEN_AS_LAST
		       : NOT_TAKEN;
}

/* A mark: 1 if it belongs to the values of the next record, and was taken. */
static int run_take_mark(struct thread *t, const struct cst_record *r,
			 uint32_t number)
{
	if (number == CST_TEXT)
		record_text_add(t, r);
	else if (number == CST_VALUES)
		record_raw_take(t, r);
	else
		return 0;
	return 1;
}

/* Keeps the values of a call that was entered or has ended. */
static __attribute__((noinline)) void
run_keep_values(struct run_state *run, struct callstack *c, struct thread *t,
		const struct site *site, uint32_t number,
		const struct cst_record *r, uint64_t seq, int is_result)
{
	struct bytes *bytes = lane_bytes(run->lane, is_result);
	size_t at = bytes->len;

	if (cst_record_has_numbers(r))
		record_raw_unpack(c->sites, t, r);
	if (!(t->n_raw | site->is_static))
		return;
	record_raw_decode(c->sites, t, number, bytes);
	if (unlikely(c->shows_values && !is_result && bytes->len > at)) {
		stack_add_values(t->current, (uint32_t)(run->top - run->bottom),
				 bytes->data + at, (uint32_t)(bytes->len - at));
		run_set_floor(run, t->current);
	}
	lane_keep_noted(run->lane, seq, at, is_result);
}

/* Computes a result of what a record holds, and puts it to where its bytes go.
 * Returns as run_put_codes() does. */
static uint8_t *run_put_computed(const struct run_state *run,
				 const struct sites *s, const struct thread *t,
				 const struct cst_record *r, uint8_t *to)
{
	uint32_t number = cst_record_site(r);
	uint32_t code = s->all[number].codes >> CODE_BITS;
	uint64_t result;

	if (cst_record_has_numbers(r))
		result = copies_compute_packed(s, number, cst_record_fp(r));
	else if (!copies_compute(s, number, t->raw, t->n_raw, &result))
		return NULL;
	return code_put(to, code, result, run->modules);
}

/* Writes the values of a record to where their bytes go.  Returns the byte
 * behind them; or NULL if they are not such as the site's codes are for. */
INLINE uint8_t *run_put_codes(struct run_state *run, struct sites *s,
			      const struct thread *t,
			      const struct cst_record *r, uint8_t *to)
{
	const struct site *site = &s->all[cst_record_site(r)];
	uint32_t codes = site->codes;

	if (unlikely(!run->modules))
		run->modules = spaces_of(&s->spaces, t->process)->modules;
	if (codes_are_computed(codes))
		return run_put_computed(run, s, t, r, to);
	if (cst_record_has_numbers(r))
		return codes_put_packed(to, codes, site->bits, cst_record_fp(r),
					run->modules);
	return codes_put(to, codes, t->raw, t->n_raw, run->modules);
}

/* Keeps the values of a call that was entered or has ended, by their codes.
 * Returns 0, and has done nothing, where that is not possible. */
INLINE int run_keep_codes(struct run_state *run, struct sites *s,
			  struct thread *t, const struct cst_record *r,
			  uint64_t seq, int is_result)
{
	struct lane *l = run->lane;
	struct bytes *b = lane_bytes(l, is_result);
	uint8_t *to, *end;

	to = bytes_reserve(b, CODES_MOST);
	if (unlikely(!to || seq - l->first >= l->n))
		return 0;
	end = run_put_codes(run, s, t, r, to);
	if (!end || !lane_note_at_once(l, (uint32_t)(end - to), is_result))
		return 0;
	b->len += (size_t)(end - to);
	t->n_raw = 0;
	lane_write_many_values(l);
	return 1;
}

/* Takes a record of a special site: an entry or an exit, with its values, or a
 * mark. */
INLINE enum taken run_take_special(struct run_state *run, struct callstack *c,
				   struct thread *t, const struct site *site,
				   uint32_t number, const struct cst_record *r,
				   uint64_t time, int waits)
{
	uint64_t cfa = callstack_cfa(site, r), seq;
	int is_result = site->kind != CST_ENTER;

	if (waits || unlikely(site->has_point))
		return NOT_TAKEN;
	if (site->is_muted)
		return run_take_mark(t, r, number) ? TAKEN : NOT_TAKEN;
	if (site->is_jump) {
		t->n_raw = 0;
		return run_jump(run, t->current, site, number, cfa,
				time - run->paused);
	}
	if (!is_result) {
		if (!run_enter(run, site, number, cfa, time - run->paused, 0))
			return NOT_TAKEN;
		seq = run->top->seq;
	} else {
		if (!run_end_call(run, site, cfa, time - run->paused, 0))
			return NOT_TAKEN;
		seq = run->top[1].seq;
	}
	if (!site->codes || (c->shows_values && !is_result) ||
	    !run_keep_codes(run, c->sites, t, r, seq, is_result))
		run_keep_values(run, c, t, site, number, r, seq, is_result);
	if (is_result)
		return run_left(run, t->current, time - run->paused, 0);
	/* Values may have filled the block. */
	return unlikely(!run->lane->n) ? TAKEN_AS_LAST : TAKEN;
}

/* Takes any other record. */
INLINE enum taken run_take_plain(struct run_state *run, struct thread *t,
				 const struct site *site, uint32_t number,
				 const struct cst_record *r, uint64_t time,
				 int waits)
{
	uint64_t cfa = callstack_plain_cfa(site, r);

	t->n_raw = 0; /* they were of a call without a record */
	if (site->kind == CST_ENTER)
		return run_enter(run, site, number, cfa, time - run->paused,
				 waits);
	if (!run_end_call(run, site, cfa, time - run->paused, waits))
		return NOT_TAKEN;
	return run_left(run, t->current, time - run->paused, waits);
}

INLINE uint32_t run_take(struct callstack *c, struct thread *t,
			 const struct cst_record *records, uint32_t n,
			 uint32_t n_known, int waits)
{
	const struct site *sites = c->sites->all;
	const struct cst_record *r = records, *end = records + n;
	struct run_state run;

	if (!run_begin(&run, c, t))
		return 0;
	for (; r < end; r++) {
		/* Pairs with the hook's release: with a time it is complete. */
		uint64_t time = __atomic_load_n(&r->time, __ATOMIC_ACQUIRE);
		uint32_t number = cst_record_site(r);
		const struct site *site = &sites[number];
		enum taken taken;

		/* Reads on in the chunk, behind whose records spare slots lie;
		 * a number that is not one only prefetches in vain. */
		__builtin_prefetch(r + 32);
		__builtin_prefetch(&sites[cst_record_site(r + 8)]);
		if (unlikely(time < run.from || number >= n_known))
			break;
		taken = unlikely(site->is_special)
				? run_take_special(&run, c, t, site, number, r,
						   time, waits)
				: run_take_plain(&run, t, site, number, r, time,
						 waits);
		if (unlikely(taken == NOT_TAKEN))
			break;
		run.from = time;
		if (unlikely(taken == TAKEN_AS_LAST)) {
			r++;
			break;
		}
	}
	if (r > records)
		t->last_time = run.from;
	run_end(&run, c, t);
	return (uint32_t)(r - records);
}

uint32_t fast_path_take(struct callstack *c, struct thread *t,
			const struct cst_record *records, uint32_t n,
			uint32_t n_known)
{
	return c->keep_ticks ? run_take(c, t, records, n, n_known, 1)
			     : run_take(c, t, records, n, n_known, 0);
}
