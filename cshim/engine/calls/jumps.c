/* SPDX-License-Identifier: MIT
 *
 * Handles the records that are no calls: where a longjmp or exception arrived,
 * forks, signal stacks, texts and quiet stretches.
 */
#include "calls/jumps.h"

#include "calls/exceptions.h"
#include "calls/find_lane.h"
#include "calls/fork.h"
#include "calls/own_words.h"
#include "calls/record_text.h"
#include "calls/sigstack.h"

/* A frame that is jumped into may be this large. */
enum { LOCALS_BYTES = 1 << 16 };

/* Set in the physical function of an inlined call that may be left: no next
 * call is plain then. */
static const uint32_t DOUBTFUL = 1u << 31;

/* Does the address lie on s above its innermost call? */
static int is_above(const struct thread *t, const struct stack *s, uint64_t sp)
{
	if (!s->n || s->calls[s->n - 1].cfa > sp)
		return 0;
	if (s->calls[0].cfa > sp)
		return 1;
	return s == t->own &&
	       (t->base ? sp < t->base : sp - s->high < ABOVE_STACK_BYTES);
}

/* How far below its innermost call's frame s may go on: code without hooks may
 * have been called from there, unless the place is in that very function. */
static uint64_t reach(const struct callstack *c, const struct stack *s,
		      uint64_t pc)
{
	uint32_t scope;

	return s->n && pc &&
			       sites_scope(c->sites, s->process,
					   s->calls[s->n - 1].physical, pc - 1,
					   &scope)
		       ? SAME_STACK_BYTES
		       : LOCALS_BYTES;
}

/* The stack that holds the address; NULL: not known. */
static struct stack *stack_at(const struct callstack *c, struct thread *t,
			      uint64_t sp, uint64_t pc)
{
	struct stack *found = NULL;
	uint64_t nearest = SAME_STACK_BYTES;

	if (sigstack_holds(c, t, sp))
		return sigstack_now(c, t);
	if (is_above(t, t->current, sp))
		return t->current;
	if (is_above(t, t->own, sp))
		return t->own;
	/* One that goes on in its innermost call: a coroutine's, or the current
	 * one, by a jump out of inlined calls. */
	for (struct stack *s = c->stacks; s; s = s->next) {
		uint64_t away = (s->n ? s->calls[s->n - 1].cfa : s->high) - sp;

		if (s->process != t->process || (!s->ordinal && s != t->own) ||
		    !stack_may_hold(s, sp))
			continue;
		/* Out of a handler on a stack of its own. */
		if (is_above(t, s, sp))
			return s;
		if (away && away < nearest && away < reach(c, s, pc)) {
			nearest = away;
			found = s;
		}
	}
	return found;
}

/* In the frame that is jumped to: the inlined calls that do not hold that place
 * are left. */
static void leave_inlined(struct callstack *c, struct thread *t,
			  struct stack *s, uint64_t pc, uint64_t time)
{
	const struct open_call *top = stack_top(s);
	uint32_t scope, left = s->n;

	if (!top ||
	    !sites_scope(c->sites, t->process, top->physical, pc, &scope))
		return;
	/* For some calls it is not known where they are inlined. */
	for (uint32_t i = s->n; i && s->calls[i - 1].cfa == top->cfa; i--) {
		uint32_t own = c->sites->places[s->calls[i - 1].site].scope;

		if (own && !scopes_is_inside(&c->sites->scopes, scope, own))
			left = i - 1;
	}
	stack_unwind(c, t, s, left, time);
}

static void doubt(const struct callstack *c, struct stack *s)
{
	struct open_call *top = stack_top(s);

	if (top && c->sites->places[top->site].scope)
		top->physical |= DOUBTFUL;
}

void jumps_settle(struct callstack *c, struct thread *t, struct stack *s,
		  const struct frame *f)
{
	struct open_call *top = stack_top(s);

	if (!top || !(top->physical & DOUBTFUL))
		return;
	top->physical &= ~DOUBTFUL;
	if (f->cfa < top->cfa && f->site->caller_physical == top->physical)
		leave_inlined(c, t, s, c->sites->places[f->number].caller - 1,
			      f->time);
}

/* Does the frame of the call lie below the address? */
static int is_below(const struct open_call *o, uint64_t sp)
{
	return o->cfa + (o->is_near == NEAR_SP ? NEAR_BYTES : 0) <= sp;
}

/* Does what goes on at sp do so in the frame of the innermost calls on s, not
 * in that of an activation of the same function since, which has no hooks? */
static int is_same_activation(const struct callstack *c, const struct thread *t,
			      const struct stack *s, uint64_t sp, uint64_t pc,
			      uint64_t fp)
{
	const struct open_call *top = s->n ? &s->calls[s->n - 1] : NULL;
	uint64_t cfa;

	if (!pc || !top || top->is_near == NEAR_SP ||
	    !lanes_is_hookless(c, s, s->n - 1))
		return 1;
	cfa = sites_cfa(c->sites, t->process, pc, sp, fp);
	return !cfa || cfa == top->cfa;
}

/* Does the jump lead to where the call returns to?  So does swapcontext(), once
 * it has been switched back. */
static int is_return_of(const struct callstack *c, const struct open_call *o,
			uint64_t sp, uint64_t pc)
{
	const struct site_place *place = &c->sites->places[o->site];

	return pc && place->is_patched && place->caller == pc && o->cfa == sp;
}

/* Close what is left. */
static void jump(struct callstack *c, struct thread *t, uint64_t sp,
		 uint64_t goal, uint64_t time)
{
	uint64_t frame_pc = t->jump_pc;
	uint64_t pc = goal == CST_BY_UNWINDER ? 0 : goal;
	struct open_call *top;
	struct stack *s;

	t->jump_pc = 0;
	/* A context that was made, not left: its stack is a new one. */
	if (pc && !sites_is_return(c->sites, t->process, pc))
		return;
	stack_now(t);
	s = stack_at(c, t, sp, pc);
	if (!s)
		return;
	if (goal == CST_BY_UNWINDER)
		exceptions_force(c, s);
	lanes_jump_over(c, t, s);
	while ((top = stack_top(s)) && is_below(top, sp)) {
		if (is_return_of(c, top, sp, pc))
			stack_pop(c, t, s, time, CALL_RETURN);
		else
			stack_unwind(c, t, s, s->n - 1, time);
	}
	if (top)
		top->physical &= ~DOUBTFUL;
	if (s->n_flying)
		exceptions_land(s);
	if (!is_same_activation(c, t, s, sp, frame_pc, t->jump_fp))
		return;
	if (pc)
		leave_inlined(c, t, s, pc - 1, time);
	else
		doubt(c, s);
}

struct stack *jumps_unwind_to(struct callstack *c, struct thread *t,
			      uint64_t sp, uint64_t time)
{
	struct stack *s = stack_at(c, t, sp, 0);

	if (!s)
		s = stack_now(t);
	while (s->n && is_below(&s->calls[s->n - 1], sp))
		stack_left(c, t, s, s->n - 1, time);
	return s;
}

/* Where an exception is thrown or caught: calls whose frames lie below that are
 * over. */
static void take_exception(struct callstack *c, struct thread *t,
			   const struct exception_record *r)
{
	struct stack *s;

	if (c->sites->all[r->number].kind < CST_THROW ||
	    t->last_time < c->begin_ticks)
		return;
	if (t->heir_of)
		fork_inherit(c, t, r->time, r->sp, 0);
	s = jumps_unwind_to(c, t, r->sp, r->time);
	exceptions_take(c, t, s, r);
}

/* Calls without records have numbers like any other that is not kept. */
static void take_passed(struct callstack *c, struct thread *t, uint64_t sp,
			uint64_t n, uint64_t time)
{
	if (t->last_time < c->begin_ticks)
		return;
	if (t->heir_of)
		fork_inherit(c, t, time, sp, 0);
	t->n_calls += n;
	c->n_calls += n;
	c->n_dropped += n;
}

int jumps_is_quiet(struct thread *t, const struct cst_record *r,
		   uint32_t number)
{
	uint64_t below = t->quiet_sp - cst_record_sp(r);

	if (number < CST_FIRST_SITE && number != CST_JUMP)
		return 0;
	if (below - 1 < SAME_STACK_BYTES)
		return 1;
	/* It was left by a jump. */
	if (-below < SAME_STACK_BYTES)
		t->quiet_sp = 0;
	return 0;
}

void jumps_take(struct callstack *c, struct thread *t,
		const struct cst_record *r, uint32_t number)
{
	uint64_t sp = cst_record_sp(r);
	uint64_t time = pauses_skip(c->pauses, t->last_time);

	switch (number) {
	case CST_FORK:
		fork_snapshot(t, (uint32_t)sp);
		break;
	case CST_FRAME:
		t->jump_pc = sp;
		t->jump_fp = cst_record_fp(r);
		break;
	case CST_JUMP:
		if (t->last_time < c->begin_ticks)
			break;
		if (t->heir_of)
			fork_inherit(c, t, time, sp, 0);
		jump(c, t, sp, cst_record_fp(r), time);
		break;
	case CST_ALTERNATE:
		sigstack_set(t, (struct extent){sp, cst_record_fp(r)});
		break;
	case CST_QUIET:
		t->quiet_sp = sp;
		break;
	case CST_PASSED:
		take_passed(c, t, sp, cst_record_fp(r), time);
		break;
	case CST_TEXT:
		record_text_add(t, r);
		break;
	case CST_VALUES:
		record_raw_take(t, r);
		break;
	default:
		if (c->sites->all[number].is_own) {
			own_words_take(c, t, r, number, time);
			break;
		}
		take_exception(c, t,
			       &(struct exception_record){
				       .number = number,
				       .sp = sp,
				       .n_text = cst_record_fp(r),
				       .time = time,
			       });
		break;
	}
}
