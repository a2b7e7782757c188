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
#include "core/signals.h"
#include "core/thread.h"
#include "cstrace/layout.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

struct open_calls {
	uint32_t n;
	uint32_t n_over; /* more calls, for which there was no room */
	uint32_t tid;
	uint32_t generation;
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
		o->n = o->n_over = 0;
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

struct open_call *open_calls_enter(const struct open_call *call)
{
	struct open_calls *o = calls_make();
	struct open_call *c, *below;
	int is_alternate = 0;

	if (!o)
		return NULL;
	/* Only what looks like a call that was left is worth a system call. */
	if (o->n && (o->calls[o->n - 1].sp < call->sp ||
		     o->calls[o->n - 1].is_alternate)) {
		is_alternate = is_on_alternate();
		while (o->n && is_replaced(&o->calls[o->n - 1], call->sp,
					   is_alternate)) {
			o->n--;
			o->n_over = 0;
		}
	}
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
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	c->kind = call->kind;
	return c;
}

int open_calls_exit(uint64_t callee, uint64_t caller, uint32_t kind,
		    struct open_call *out)
{
	struct open_calls *o = calls_now();

	if (!o)
		return -1;
	if (o->n_over) {
		o->n_over--;
		return -1;
	}
	for (uint32_t i = o->n; i--;) {
		const struct open_call *c = &o->calls[i];

		if (c->callee != callee || c->kind != kind ||
		    (caller && c->caller != caller))
			continue;
		out->callee = c->callee;
		out->caller = c->caller;
		out->sp = c->sp;
		out->start = c->start;
		out->place = c->place;
		out->kept = c->kept;
		out->kind = c->kind;
		out->depth = c->depth;
		out->level = c->level;
		out->awaited = c->awaited;
		o->n = i;
		return 0;
	}
	return -1;
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
