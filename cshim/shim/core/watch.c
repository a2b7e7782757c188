/* SPDX-License-Identifier: MIT
 *
 * Callbacks in an array, each with a state: data is written before it and read
 * behind it.  Who removes one waits for those that run, so that its data may be
 * freed; a place is used again only when no callback ran since.
 */
#include "core/watch.h"
#include <errno.h>
#include "core/area.h"
#include "core/control.h"
#include "core/open_calls.h"
#include "core/raw_clone.h"
#include "core/stops.h"
#include "kernel/arch.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

enum { MAX_CALLBACKS = 16, OFF_LIMIT_MS = 1000 };

enum callback_state { UNUSED = 0, BEING_SET = 1, IS_SET = 2, REMOVED = 3 };

struct callback {
	uint32_t state; /* enum callback_state */
	uint32_t is_exit;
	cstrace_enter_callback *enter;
	cstrace_exit_callback *exit;
	void *data;
};

uint32_t watch_wanted;
static struct callback callbacks[MAX_CALLBACKS];
static uint32_t n_running; /* threads that are in a callback */

/* ---- time -------------------------------------------------------------------
 */

enum { RATE_NS = 200000 }; /* the shortest time to tell the rate by */

static struct {
	uint64_t ticks, ns;
} first;

static void rate_begin(void)
{
	uint64_t ns, ticks;

	if (__atomic_load_n(&first.ticks, __ATOMIC_RELAXED))
		return;
	ns = sys_clock_ns(CLOCK_MONOTONIC);
	ticks = clock_ticks();
	first.ns = ns;
	__atomic_store_n(&first.ticks, ticks, __ATOMIC_RELEASE);
}

/* In ns for 2^32 ticks, without a division that the compiler has no instruction
 * for. */
static uint64_t rate_of(uint64_t ns, uint64_t ticks)
{
	while (ns >> 32) {
		ns >>= 1;
		ticks >>= 1;
	}
	return ticks ? (ns << 32) / ticks : 0;
}

uint64_t watch_ns(uint64_t ticks)
{
	static uint64_t ns_per_2_32_ticks;
	uint64_t rate = __atomic_load_n(&ns_per_2_32_ticks, __ATOMIC_RELAXED);
	uint64_t begin, ns;

	rate_begin();
	begin = __atomic_load_n(&first.ticks, __ATOMIC_ACQUIRE);
	while (!rate && begin && first.ns) {
		ns = sys_clock_ns(CLOCK_MONOTONIC) - first.ns;
		if (ns < RATE_NS)
			continue;
		rate = rate_of(ns, clock_ticks() - begin);
		__atomic_store_n(&ns_per_2_32_ticks, rate, __ATOMIC_RELAXED);
	}
	return (uint64_t)((unsigned __int128)ticks * rate >> 32);
}

uint64_t watch_ticks(void)
{
	uint64_t paused =
		area ? __atomic_load_n(&area->paused_ticks, __ATOMIC_RELAXED)
		     : 0;

	return clock_ticks() - paused - self.waited_ticks;
}

/* ---- wishes -----------------------------------------------------------------
 */

void watch_set(uint32_t what, int on)
{
	rate_begin();
	if (on && !watch_any())
		open_calls_begin();
	if (on)
		__atomic_fetch_or(&watch_wanted, what, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_and(&watch_wanted, ~what, __ATOMIC_SEQ_CST);
	/* A callback's own calls are to stay unseen to its end. */
	if (on || !__atomic_load_n(&n_running, __ATOMIC_SEQ_CST))
		control_watched();
}

static int is_unused(struct callback *c)
{
	uint32_t state = __atomic_load_n(&c->state, __ATOMIC_SEQ_CST);

	return (state == UNUSED ||
		(state == REMOVED &&
		 !__atomic_load_n(&n_running, __ATOMIC_SEQ_CST))) &&
	       __atomic_compare_exchange_n(&c->state, &state, BEING_SET, 0,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static int callback_add(cstrace_enter_callback *enter,
			cstrace_exit_callback *exit, void *data)
{
	for (int i = 0; i < MAX_CALLBACKS && (enter || exit); i++) {
		struct callback *c = &callbacks[i];

		if (!is_unused(c))
			continue;
		c->is_exit = !enter;
		c->enter = enter;
		c->exit = exit;
		c->data = data;
		__atomic_store_n(&c->state, IS_SET, __ATOMIC_SEQ_CST);
		watch_set(WATCH_CALLBACKS, 1);
		return i + 1;
	}
	return -1;
}

int watch_on_enter(cstrace_enter_callback *callback, void *data)
{
	return callback_add(callback, NULL, data);
}

int watch_on_exit(cstrace_exit_callback *callback, void *data)
{
	return callback_add(NULL, callback, data);
}

static int has_callbacks(void)
{
	for (int i = 0; i < MAX_CALLBACKS; i++) {
		uint32_t state =
			__atomic_load_n(&callbacks[i].state, __ATOMIC_SEQ_CST);

		if (state == BEING_SET || state == IS_SET)
			return 1;
	}
	return 0;
}

/* One that is added meanwhile wants what this takes away. */
static void callbacks_unwant(void)
{
	if (has_callbacks())
		return;
	watch_set(WATCH_CALLBACKS, 0);
	if (has_callbacks())
		watch_set(WATCH_CALLBACKS, 1);
}

int watch_off(int callback)
{
	uint32_t is_set = IS_SET, own = self.callback_sp != 0;
	struct callback *c = &callbacks[callback - 1];
	uint64_t began = 0;

	if (callback < 1 || callback > MAX_CALLBACKS ||
	    !__atomic_compare_exchange_n(&c->state, &is_set, REMOVED, 0,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return -1;
	callbacks_unwant();
	while (__atomic_load_n(&n_running, __ATOMIC_SEQ_CST) > own) {
		uint64_t now = sys_monotonic_ms();
		uint32_t n = __atomic_load_n(&n_running, __ATOMIC_SEQ_CST);

		if (!began)
			began = now;
		if (now - began >= OFF_LIMIT_MS)
			return -1;
		if (n > own)
			sys_futex_wait(&n_running, FUTEX_WAIT_PRIVATE, n, 1);
	}
	return 0;
}

/* ---- calls ------------------------------------------------------------------
 */

/* Frames of a callback lie below this much of the stack above it. */
enum { NEAR_BYTES = 1 << 20 };

static void run_end(void)
{
	self.callback_sp = 0;
	if (!__atomic_sub_fetch(&n_running, 1, __ATOMIC_SEQ_CST) &&
	    !watch_any())
		control_watched();
}

/* It may have been left by a jump past libc. */
static int is_in_callback(void)
{
	if (self.callback_sp && own_sp() - self.callback_sp < NEAR_BYTES)
		run_end();
	return self.callback_sp != 0;
}

int watch_is_quiet(void)
{
	if (self.busy_sp || is_in_callback() ||
	    (self.quiet_sp && own_sp() < self.quiet_sp))
		return 1;
	/* Thread data that is another's, too. */
	return __atomic_load_n(&state_page.has_guests, __ATOMIC_RELAXED) &&
	       (!area || self_now() != &self);
}

static int has_callback(uint32_t is_exit)
{
	for (int i = 0; i < MAX_CALLBACKS; i++)
		if (__atomic_load_n(&callbacks[i].state, __ATOMIC_RELAXED) ==
			    IS_SET &&
		    callbacks[i].is_exit == is_exit)
			return 1;
	return 0;
}

static int callback_run(const struct callback *c,
			const struct cstrace_call *call)
{
	if (!c->is_exit)
		return c->enter(call, c->data) == CSTRACE_VETO;
	c->exit(call, c->data);
	return 0;
}

/* Returns whether one of them vetoed. */
static COLD int callbacks_run(const struct cstrace_call *call, uint32_t is_exit)
{
	int before = errno, veto = 0;

	__atomic_fetch_add(&n_running, 1, __ATOMIC_SEQ_CST);
	self.callback_sp = own_sp();
	for (int i = 0; i < MAX_CALLBACKS; i++) {
		const struct callback *c = &callbacks[i];

		if (__atomic_load_n(&c->state, __ATOMIC_SEQ_CST) == IS_SET &&
		    c->is_exit == is_exit)
			veto |= callback_run(c, call);
	}
	run_end();
	errno = before;
	return veto;
}

static struct cstrace_call told(const struct watched_call *w, uint32_t depth)
{
	const struct cstrace_place *p = w->place;

	return (struct cstrace_call){
		.callee = p ? NULL : (const void *)w->callee,
		.caller = (const void *)w->caller,
		.function = p ? p->name : NULL,
		.file = p ? p->file : NULL,
		.line = p ? p->line : 0,
		.depth = depth,
		.names = p ? p->values : NULL,
		.can_veto = (int)w->can_veto,
	};
}

static int wants_callbacks(const struct watched_call *w)
{
	return w->kind == CST_CALL &&
	       (__atomic_load_n(&watch_wanted, __ATOMIC_RELAXED) &
		WATCH_CALLBACKS);
}

int watch_enter(const struct watched_call *w, struct open_call **opened)
{
	const struct open_call call = {.callee = w->callee,
				       .caller = w->caller,
				       .sp = w->sp,
				       .start = watch_ticks(),
				       .place = w->place,
				       .kind = (uint16_t)w->kind,
				       .flags = w->flags};
	struct open_call *o = open_calls_enter(&call);
	struct cstrace_call c;
	int veto;

	if (opened)
		*opened = o;
	if (!wants_callbacks(w) || !has_callback(0))
		return CSTRACE_GO_ON;
	c = told(w, open_calls_depth());
	c.n_arguments = w->n_values;
	c.arguments = w->values;
	veto = callbacks_run(&c, 0);
	if (o) /* without what the callbacks took */
		o->start = watch_ticks();
	return veto && w->can_veto ? CSTRACE_VETO : CSTRACE_GO_ON;
}

/* Returns 0 or -1. */
static int close_call(const struct watched_call *w, struct open_call *out)
{
	const struct open_call call = {.callee = w->callee,
				       .caller = w->caller,
				       .sp = w->sp,
				       .kind = (uint16_t)w->kind,
				       .flags = w->flags,
				       .left_to = w->left_to};
	const struct open_call *left;

	if (!(w->flags & OPEN_LEFT))
		return open_calls_exit(&call, out);
	left = open_calls_leave(&call);
	if (!left)
		return -1;
	*out = *left;
	return 0;
}

int watch_exit(const struct watched_call *w, struct open_call *out)
{
	uint64_t now = watch_ticks();
	struct open_call open = {.depth = 0};
	uint32_t depth = open_calls_depth();
	int is_unknown = close_call(w, &open) < 0;
	struct cstrace_call c;

	if (out)
		*out = open;
	if (!wants_callbacks(w) || !has_callback(1))
		return is_unknown ? -1 : 0;
	c = told(w, is_unknown ? depth : open.depth);
	c.result = w->n_values ? w->values : NULL;
	if (!is_unknown) {
		c.callee = w->place ? NULL : (const void *)open.callee;
		c.elapsed_ns = watch_ns(now - open.start);
	}
	callbacks_run(&c, 1);
	return is_unknown ? -1 : 0;
}

void watch_jump(uint64_t sp, int is_unwinders)
{
	if (self.callback_sp && sp > self.callback_sp)
		run_end();
	if (stops_any())
		stops_jump(sp, is_unwinders);
	open_calls_jump(sp);
}

void watch_after_fork(void)
{
	__atomic_store_n(&n_running, self.callback_sp != 0, __ATOMIC_SEQ_CST);
	open_calls_after_fork();
}
