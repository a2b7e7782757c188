/* SPDX-License-Identifier: MIT
 *
 * An array for each thread, from mmap(), that grows with calls and shrinks with
 * exits.  A call that was left without one is noticed by its stack pointer: by
 * the jump that leaves it, or when another frame takes its place.
 *
 * A handler may come at any point.  It adds above what it finds and removes
 * that again; so a place in the array is claimed before it is filled.
 */
#include "core/open_calls.h"
#include <signal.h>
#include "core/function_at.h"
#include "core/readable.h"
#include "core/signals.h"
#include "core/thread.h"
#include "cstrace/layout.h"
#include "kernel/arch.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

struct open_calls {
	uint32_t n;
	uint32_t n_over; /* more calls, for which there was no room */
	uint32_t tid;
	uint32_t generation;
	uint32_t lost; /* see open_calls_lost() */
	struct open_call calls[OPEN_CALLS_MAX];
};

static uint32_t generation;

void open_calls_begin(void)
{
	__atomic_add_fetch(&generation, 1, __ATOMIC_SEQ_CST);
}

/* The thread's calls, or NULL; none that are of an earlier generation. */
static struct open_calls *calls_now(void)
{
	struct open_calls *o = self.open;
	uint32_t now = __atomic_load_n(&generation, __ATOMIC_RELAXED);

	if (o && o->generation != now) {
		o->n = o->n_over = o->lost = 0;
		o->generation = now;
	}
	return o;
}

static struct open_calls *calls_make(void)
{
	uint64_t mask;
	long got;

	if (self.open)
		return calls_now();
	mask = signals_block();
	if (!self.open) {
		got = sys_mmap(0, sizeof(*self.open), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (got >= 0) {
			self.open = (struct open_calls *)got;
			self.open->tid = sys_gettid();
		}
		thread_watch_end();
	}
	signals_restore(mask);
	return calls_now();
}

uint32_t open_calls_tid(void)
{
	return self.open ? self.open->tid : sys_gettid();
}

void open_calls_after_fork(void)
{
	if (self.open)
		self.open->tid = sys_gettid();
}

void open_calls_release(void)
{
	struct open_calls *o = self.open;

	self.open = NULL;
	if (o)
		sys_munmap((uint64_t)o, sizeof(*o));
}

/* Is the calling thread on its alternate signal stack? */
static int is_on_alternate(void)
{
	stack_t now = {.ss_flags = 0};

	return gate_call(SYS_sigaltstack, 0, (long)&now, 0, 0, 0, 0) >= 0 &&
	       (now.ss_flags & SS_ONSTACK);
}

/* Other calls have the frame's place now. */
static int is_replaced(const struct open_call *c, uint64_t sp, int is_alternate)
{
	return c->kind && c->sp < sp && c->is_alternate == is_alternate;
}

/* ---- tail calls ------------------------------------------------------------
 */

static struct open_call *top(struct open_calls *o)
{
	return o->n ? &o->calls[o->n - 1] : NULL;
}

static int has_frame(const struct open_call *c, const struct open_call *other)
{
	return c->flags & other->flags & OPEN_PATCHED && c->sp == other->sp;
}

/* The innermost call is over, and nobody has seen its end. */
static void lose(struct open_calls *o)
{
	o->lost |= top(o)->awaited;
	o->n--;
	o->n_over = 0;
}

/* Removes what has the frame of the call that is entered, down to its own
 * function; if that is not there, and there are too many, the last one. */
static void make_room(struct open_calls *o, const struct open_call *entered)
{
	uint32_t first = o->n, i;

	while (first && has_frame(&o->calls[first - 1], entered))
		first--;
	for (i = first; i < o->n; i++)
		if (o->calls[i].callee == entered->callee)
			break;
	if (i == o->n && o->n - first > CST_MOST_TAILS)
		i--;
	while (o->n > i)
		lose(o);
}

/* Does what returns there always call the same function? */
static int is_after_direct_call(uint64_t caller)
{
	uint8_t code;

	return readable_copy(own_sp(), &code, caller - DIRECT_CALL_BYTES, 1) ==
		       1 &&
	       code == DIRECT_CALL;
}

static int is_led_to(const struct open_call *c, const struct open_call *entered)
{
	return has_frame(c, entered) && c->caller == entered->caller &&
	       (c->left_to == entered->callee ||
		is_after_direct_call(c->caller));
}

/* Another event than an entry tells that the jump was no tail call, for which
 * `entered` is NULL.  Returns whether it was one. */
static int settle(struct open_calls *o, const struct open_call *entered)
{
	struct open_call *c = top(o);

	if (!c || !(c->flags & OPEN_LEFT))
		return 0;
	if (entered && is_led_to(c, entered)) {
		c->flags = (c->flags & ~(uint32_t)OPEN_LEFT) | OPEN_TAILED;
		make_room(o, entered);
		return 1;
	}
	for (lose(o); (c = top(o)) && c->flags & OPEN_TAILED; lose(o))
		continue;
	return 0;
}

/* Is its return address not where it was?  Asked only of memory that is there,
 * as the page of the call that is entered is. */
static int is_overwritten(const struct open_call *c,
			  const struct open_call *entered)
{
	return c->flags & entered->flags & OPEN_PATCHED &&
	       c->sp > entered->sp && c->sp < readable_page_end(entered->sp) &&
	       *(const uint64_t *)c->sp != c->caller;
}

/* Does its caller itself make the call that is entered?  Asked where the two
 * are as near as arguments on the stack are. */
static int is_returned(const struct open_call *c,
		       const struct open_call *entered)
{
	enum { NEAR = 256 };
	uint64_t maker;

	if (!(c->flags & entered->flags & OPEN_PATCHED) ||
	    c->sp - entered->sp > NEAR)
		return 0;
	maker = function_at(entered->caller - 1);
	return maker && maker != c->callee &&
	       maker == function_at(c->caller - 1);
}

/* What has the frame of a call that is entered, and not by a jump, is over. */
static void drop_ended(struct open_calls *o, const struct open_call *entered)
{
	while (o->n &&
	       (has_frame(top(o), entered) || is_overwritten(top(o), entered) ||
		is_returned(top(o), entered)))
		lose(o);
}

int open_calls_end_tailed(uint64_t sp, struct open_call *out)
{
	struct open_calls *o = calls_now();
	const struct open_call *c = o ? top(o) : NULL;

	if (!c || !(c->flags & OPEN_TAILED) || c->sp != sp)
		return 0;
	*out = *c;
	o->n--;
	return 1;
}

uint32_t open_calls_lost(void)
{
	struct open_calls *o = calls_now();
	uint32_t lost = o ? o->lost : 0;

	if (lost)
		o->lost = 0;
	return lost;
}

/* ---- entries and exits -----------------------------------------------------
 */

/* Only what looks like a call that was left is worth a system call. */
static void drop_replaced(struct open_calls *o, uint64_t sp, int *is_alternate)
{
	*is_alternate = 0;
	if (!o->n || (top(o)->sp >= sp && !top(o)->is_alternate))
		return;
	*is_alternate = is_on_alternate();
	while (o->n && is_replaced(top(o), sp, *is_alternate)) {
		o->n--;
		o->n_over = 0;
	}
}

struct open_call *open_calls_enter(const struct open_call *call)
{
	struct open_calls *o = calls_make();
	struct open_call *c, *below;
	int is_alternate, is_led;

	if (!o)
		return NULL;
	is_led = settle(o, call);
	drop_replaced(o, call->sp, &is_alternate);
	if (!is_led)
		drop_ended(o, call);
	if (o->n == OPEN_CALLS_MAX) {
		o->n_over++;
		return NULL;
	}
	c = &o->calls[o->n];
	below = o->n ? c - 1 : NULL;
	c->kind = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	o->n++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	c->callee = call->callee;
	c->caller = call->caller;
	c->sp = call->sp;
	c->start = call->start;
	c->place = call->place;
	c->kept = 0;
	c->is_alternate = (uint16_t)is_alternate;
	c->depth = (below ? below->depth : 0) + (call->kind == CST_CALL);
	c->level = (below ? below->level : 0) + (call->kind == CST_SPAN);
	c->under = below ? below->under : 0;
	c->awaited = 0;
	c->flags = call->flags;
	c->left_to = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	c->kind = call->kind;
	return c;
}

static int is_like(const struct open_call *c, const struct open_call *call)
{
	if (c->kind != call->kind)
		return 0;
	if (has_frame(c, call))
		return call->flags & OPEN_ANY || c->callee == call->callee;
	return !((c->flags | call->flags) & OPEN_PATCHED) &&
	       c->callee == call->callee &&
	       (!call->caller || c->caller == call->caller);
}

/* Removes what is open within the innermost call like that one. */
static struct open_call *find(const struct open_call *call)
{
	struct open_calls *o = calls_now();

	if (!o)
		return NULL;
	settle(o, NULL);
	if (o->n_over) {
		o->n_over--;
		return NULL;
	}
	for (uint32_t i = o->n; i--;)
		if (is_like(&o->calls[i], call)) {
			o->n = i + 1;
			return &o->calls[i];
		}
	return NULL;
}

int open_calls_exit(const struct open_call *call, struct open_call *out)
{
	const struct open_call *c = find(call);

	if (!c)
		return -1;
	*out = *c;
	self.open->n--;
	return 0;
}

const struct open_call *open_calls_leave(const struct open_call *call)
{
	struct open_call *c = find(call);

	if (c) {
		c->flags |= OPEN_LEFT;
		c->left_to = call->left_to;
	}
	return c;
}

void open_calls_await(uint32_t conditions)
{
	struct open_call *c = self.open ? top(self.open) : NULL;

	if (c && c->flags & OPEN_LEFT)
		c->awaited = conditions;
}

void open_calls_jump(uint64_t sp)
{
	struct open_calls *o = calls_now();

	if (!o || !o->n)
		return;
	/* From the alternate stack, to the thread's own or on it. */
	if (o->calls[o->n - 1].is_alternate) {
		const struct open_call *first = &o->calls[o->n - 1];
		stack_t now = {.ss_flags = SS_DISABLE};

		gate_call(SYS_sigaltstack, 0, (long)&now, 0, 0, 0, 0);
		if (sp - (uint64_t)now.ss_sp < now.ss_size)
			goto same;
		while (first->is_alternate && o->n) {
			o->n--;
			first--;
		}
	}
same:
	while (o->n && o->calls[o->n - 1].kind && o->calls[o->n - 1].sp < sp) {
		o->n--;
		o->n_over = 0;
	}
}

const struct open_call *open_calls_at(uint32_t i)
{
	const struct open_calls *o = calls_now();

	return o && i < o->n && i < OPEN_CALLS_MAX ? &o->calls[o->n - 1 - i]
						   : NULL;
}

uint32_t open_calls_depth(void)
{
	const struct open_calls *o = calls_now();

	return o && o->n ? o->calls[o->n - 1].depth + o->n_over : 0;
}
