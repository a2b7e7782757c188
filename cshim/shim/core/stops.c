/* SPDX-License-Identifier: MIT
 *
 * The conditions are looked at here, so that one that is true for the last of
 * ten million calls costs as little as recording them does.
 */
#include "core/stops.h"
#include "core/control.h"
#include "core/thread.h"
#include "core/watch.h"
#include "cstrace/control.h"
#include "cstrace/layout.h"
#include "kernel/arch.h"
#include "kernel/syscall.h"

HIDDEN struct cst_stops stops;
extern EXPORT struct cst_stops cstrace_stops __attribute__((alias("stops")));

static struct cst_again again;
extern EXPORT struct cst_again cstrace_again __attribute__((alias("again")));

uint32_t stops_wanted;

NOOP_FUNCTION(cstrace_hook_stop, .Lhook_stop);

/* Straight to our own, whatever the program defines under that name. */
extern __attribute__((visibility("hidden"))) void
hook_stop(uint64_t place, uint64_t at, uint64_t ns,
	  uint64_t callee) __asm__(".Lhook_stop");

void stops_obey(void)
{
	uint32_t is_on = stops.is_on && stops.pid == (uint32_t)sys_getpid();

	if (is_on && stops.needs_open) {
		if (!watch_any())
			open_calls_begin();
		__atomic_fetch_or(&watch_wanted, WATCH_STOPS, __ATOMIC_SEQ_CST);
	} else {
		__atomic_fetch_and(&watch_wanted, ~(uint32_t)WATCH_STOPS,
				   __ATOMIC_SEQ_CST);
	}
	is_on |= again.n && again.pid == (uint32_t)sys_getpid();
	__atomic_store_n(&stops_wanted, is_on, __ATOMIC_SEQ_CST);
}

void stops_forget(void)
{
	stops.is_on = 0;
	again = (struct cst_again){0};
	stops_obey();
}

int stops_is_again(uint64_t callee, uint64_t sp, uint64_t hook)
{
	if (likely(!__atomic_load_n(&again.n, __ATOMIC_RELAXED)) ||
	    again.pid != (uint32_t)sys_getpid())
		return 0;
	for (int i = 0; i < CST_MAX_AGAIN; i++) {
		if (again.all[i].sp != sp || again.all[i].callee != callee ||
		    again.all[i].hook != hook)
			continue;
		again.all[i].sp = 0;
		if (!__atomic_sub_fetch(&again.n, 1, __ATOMIC_SEQ_CST))
			control_ask();
		return 1;
	}
	return 0;
}

/* In a fork child, and in one that vfork made, there is no breakpoint. */
static COLD void hit(uint32_t number, enum cst_stop_at at, uint64_t ns)
{
	if (stops.pid == (uint32_t)sys_getpid())
		hook_stop(number, at, ns, 0);
}

/* gdb writes what it knows of this hook, and the program goes on. */
static COLD void ask(uint32_t number, enum cst_stop_at at,
		     const struct stop_event *e)
{
	if (stops.pid == (uint32_t)sys_getpid())
		hook_stop(number, at,
			  cst_hook_place(e->key.hook, e->key.callee),
			  e->key.callee);
}

/* Are the values those that are wanted?  What nobody can tell is counted. */
static int values_fit(uint32_t i, enum cst_stop_at ask_as,
		      const struct stop_event *e)
{
	enum stop_truth truth = stop_values(i, e);

	if (unlikely(truth == STOP_NOT_ASKED)) {
		ask(i, ask_as, e);
		truth = stop_values(i, e);
	}
	if (unlikely(truth > STOP_TRUE))
		__atomic_add_fetch(&stops.stops[i].n_skipped, 1,
				   __ATOMIC_RELAXED);
	return truth == STOP_TRUE;
}

static const struct cst_stop_function *find(uint64_t callee)
{
	uint64_t i = callee * 0x9e3779b97f4a7c15ull >> (64 - CST_STOP_BITS);

	/* gdb fills half of them at most. */
	for (uint32_t n = 0; n < CST_STOP_SLOTS; n++) {
		const struct cst_stop_function *f =
			&stops.functions[(i + n) % CST_STOP_SLOTS];

		if (f->callee == callee)
			return f;
		if (!f->callee)
			break;
	}
	return NULL;
}

/* It is true once more: is it the time that counts? */
static int is_the_one(struct cst_stop *s)
{
	uint64_t n = __atomic_add_fetch(&s->n_true, 1, __ATOMIC_RELAXED);

	return !s->count || n == s->count;
}

/* ---- entries ---------------------------------------------------------------
 */

static int is_true(const struct cst_stop *s, int is_under)
{
	return s->flags & CST_STOP_ON &&
	       (!s->thread || s->thread == self.ordinal) &&
	       (!s->depth || open_calls_depth() >= s->depth) &&
	       (is_under || !(s->flags & CST_STOP_UNDER));
}

/* Is it known at the end only whether all is true? */
static int is_later(const struct cst_stop *s)
{
	return s->longer_ns || s->flags & (CST_STOP_UNWOUND | CST_STOP_RESULT);
}

static void enter_one(uint32_t i, int is_under, const struct stop_event *e,
		      struct open_call *opened)
{
	struct cst_stop *s = &stops.stops[i];

	if (!is_true(s, is_under) ||
	    (s->flags & CST_STOP_VALUES &&
	     !values_fit(i, CST_STOP_ASKS_ENTRY, e)) ||
	    (!is_later(s) && !is_the_one(s)))
		return;
	if (!is_later(s) && !(s->flags & CST_STOP_AT_EXIT))
		hit(i, CST_STOP_IS_ENTRY, 0);
	else if (opened)
		opened->awaited |= 1u << i;
	else
		__atomic_add_fetch(&s->n_skipped, 1, __ATOMIC_RELAXED);
}

/* The conditions that any function meets, if its calls have numbers. */
static uint32_t any(const struct site_key *key)
{
	uint32_t site;

	if (likely(!stops.any))
		return 0;
	site = site_find(key);
	return site && site_is_muted(site) ? 0 : stops.any;
}

void stops_enter(const struct stop_event *e, struct open_call *opened)
{
	const struct cst_stop_function *f = find(e->key.callee);
	uint32_t mask = any(&e->key) | (f ? f->called : 0), under = 0;
	const struct open_call *around = opened;

	if (stops.needs_open && !around)
		around = open_calls_at(0);
	if (around)
		under = around->under;
	if (opened && f)
		opened->under |= f->under;
	for (; unlikely(mask); mask &= mask - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(mask);

		enter_one(i, under >> i & 1, e, opened);
	}
}

/* ---- ends ------------------------------------------------------------------
 */

/* Calls in the frame that an exception goes on in, or above it, whose exits
 * come now are left by it. */
static __thread uint64_t landed_sp __attribute__((tls_model("initial-exec")));

void stops_unwind(uint64_t sp)
{
	landed_sp = sp;
}

/* How a call ends. */
struct ending {
	enum cst_stop_at at;
	int is_unwound;
	const struct stop_event *exit; /* NULL: by no exit */
};

static int returns_it(uint32_t i, const struct ending *how)
{
	return how->exit && !how->is_unwound &&
	       values_fit(i, CST_STOP_ASKS_EXIT, how->exit);
}

static void end_one(uint32_t i, const struct open_call *c,
		    const struct ending *how)
{
	struct cst_stop *s = &stops.stops[i];
	uint64_t ns = watch_ns(watch_ticks() - c->start);

	if (!(s->flags & CST_STOP_ON) || ns < s->longer_ns ||
	    (s->flags & CST_STOP_UNWOUND && !how->is_unwound) ||
	    (s->flags & CST_STOP_RESULT && !returns_it(i, how)))
		return;
	/* Only these are not counted at the entry. */
	if (is_later(s) && !is_the_one(s))
		return;
	hit(i, how->at, ns);
}

static void end(const struct open_call *c, uint32_t mask,
		const struct ending *how)
{
	for (; unlikely(mask); mask &= mask - 1)
		end_one((uint32_t)__builtin_ctz(mask), c, how);
}

static struct ending ending_by(const struct stop_event *e,
			       const struct open_call *ended)
{
	return (struct ending){CST_STOP_IS_EXIT,
			       landed_sp && ended->sp >= landed_sp, e};
}

void stops_exit(const struct stop_event *e, const struct open_call *ended)
{
	const struct ending how = ending_by(e, ended);

	end(ended, ended->awaited, &how);
}

void stops_leave(const struct stop_event *e, const struct open_call *left)
{
	const struct ending how = ending_by(e, left);
	uint64_t ns = watch_ns(watch_ticks() - left->start);
	uint32_t later = 0;

	for (uint32_t mask = left->awaited; mask; mask &= mask - 1) {
		const struct cst_stop *s = &stops.stops[__builtin_ctz(mask)];

		if (s->flags & CST_STOP_RESULT || ns < s->longer_ns ||
		    (s->flags & CST_STOP_UNWOUND && !how.is_unwound))
			later |= mask & -mask;
	}
	open_calls_await(later);
	end(left, left->awaited & ~later, &how);
}

void stops_lose(uint32_t conditions)
{
	for (; unlikely(conditions); conditions &= conditions - 1) {
		struct cst_stop *s = &stops.stops[__builtin_ctz(conditions)];

		if (s->flags & CST_STOP_RESULT)
			__atomic_add_fetch(&s->n_skipped, 1, __ATOMIC_RELAXED);
	}
}

void stops_jump(uint64_t sp, int is_unwinders)
{
	const struct ending jump = {is_unwinders ? CST_STOP_IS_UNWINDER
						 : CST_STOP_IS_JUMP,
				    1, NULL};
	const struct open_call *c;

	for (uint32_t i = 0; (c = open_calls_at(i)) && c->kind && c->sp < sp;
	     i++)
		end(c, c->awaited, &jump);
}
