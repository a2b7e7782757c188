/* SPDX-License-Identifier: MIT
 *
 * Which calls are open down to the depth that the reader wants.
 */
#include "core/depth.h"
#include "core/chunk.h"
#include "core/mappings.h"
#include "core/signals.h"
#include "core/site.h"
#include "kernel/arch.h"
#include "kernel/lock.h"
#include "kernel/syscall.h"

/* An open call that is recorded. */
struct depth_call {
	uint64_t sp, fp; /* at its entry's hook */
	uint64_t callee, caller;
	uint64_t cfa; /* 0: not known, and the call does not count */
	uint32_t site;
	uint8_t is_counted;
	uint8_t is_doubtful; /* it may have been left by a jump */
};

enum {
	CALLS_BYTES = 8192,
	MAX_CALLS = CALLS_BYTES / sizeof(struct depth_call),
	/* A higher limit is the reader's alone: what does not count needs
	 * room, too. */
	MAX_DEPTH = 100,
};

__thread struct depth depth_own;
uint32_t depth_n_forgotten;

void depth_forget(void)
{
	__atomic_fetch_add(&depth_n_forgotten, 1, __ATOMIC_RELAXED);
}

static void clear(struct depth *d)
{
	d->hidden_sp = 0;
	d->n = d->n_counted = 0;
}

static void give_up(struct depth *d)
{
	clear(d);
	d->is_off = 1;
}

/* 0: no limit that is heeded here. */
static uint32_t limit_now(void)
{
	uint32_t n = __atomic_load_n(&area->keep_depth, __ATOMIC_RELAXED);

	return n <= MAX_DEPTH ? n : 0;
}

static int is_on_stack(const struct depth *d, uint64_t sp)
{
	return sp >= d->low && sp < d->high;
}

/* ---- the open calls -------------------------------------------------------
 */

static struct depth_call *top(const struct depth *d)
{
	return d->n ? &d->calls[d->n - 1] : 0;
}

static void pop(struct depth *d)
{
	d->n_counted -= top(d)->is_counted;
	d->n--;
}

static struct depth_call *innermost_counted(const struct depth *d)
{
	for (uint32_t i = d->n; i > 0; i--)
		if (d->calls[i - 1].is_counted)
			return &d->calls[i - 1];
	return 0;
}

static const uint64_t *return_slot(const struct depth_call *c)
{
	return (const uint64_t *)(c->cfa - 8);
}

/* What the reader has found out about a site; 0: nothing so far. */
static uint8_t frame_of(uint32_t site)
{
	/* Pairs with the reader's release: the other fields come before. */
	return __atomic_load_n(&site_index.sites[site].frame, __ATOMIC_ACQUIRE);
}

static int is_inlined(uint32_t site)
{
	uint8_t frame = frame_of(site);

	return !frame || frame & CST_INLINED;
}

static uint64_t cfa_of(const struct depth *d, const struct depth_call *c)
{
	uint8_t base = frame_of(c->site) & ~CST_INLINED;
	uint64_t cfa;

	if (base != CST_CFA_OF_SP && base != CST_CFA_OF_FP)
		return 0;
	cfa = (base == CST_CFA_OF_SP ? c->sp : c->fp) +
	      8ull * site_index.sites[c->site].cfa_words;
	return cfa - 8 >= c->sp && cfa <= d->high && !(cfa & 7) ? cfa : 0;
}

/* Counts the calls anew: the reader has judged some sites. */
static void count(struct depth *d)
{
	d->n_counted = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		struct depth_call *c = &d->calls[i];

		if (!c->cfa)
			c->cfa = cfa_of(d, c);
		c->is_counted =
			c->cfa && !c->is_doubtful && !site_is_muted(c->site);
		d->n_counted += c->is_counted;
	}
}

/* Drops what has been left: it lies below the stack pointer, or its return
 * address is not there any more. */
static void prune(struct depth *d, uint64_t sp)
{
	const struct depth_call *c;

	while (d->n && top(d)->sp < sp)
		pop(d);
	while ((c = innermost_counted(d)) && *return_slot(c) != c->caller)
		while (top(d) >= c)
			pop(d);
}

static void push(struct depth *d, const struct depth_event *e, uint32_t site)
{
	struct depth_call *c;

	/* In the same frame as another: inlined there, or in its place. */
	while (d->n && top(d)->sp == e->sp &&
	       (top(d)->caller != e->caller || !is_inlined(site)))
		pop(d);
	if (d->n == MAX_CALLS)
		return;
	c = &d->calls[d->n++];
	*c = (struct depth_call){.sp = e->sp,
				 .fp = e->fp,
				 .callee = e->callee,
				 .caller = e->caller,
				 .site = site};
	c->cfa = cfa_of(d, c);
	c->is_counted = c->cfa != 0;
	d->n_counted += c->is_counted;
}

/* Is the event of that function?  It is at the same frame. */
static int is_of(const struct depth_event *e, uint64_t callee)
{
	return e->callee == callee || cst_patched_ends_any(e->hook);
}

/* ---- hiding ----------------------------------------------------------------
 */

/* Does the function keep a frame pointer?  Its frame then has the return
 * address above it. */
static int has_frame_pointer(const struct depth *d, const struct depth_event *e)
{
	return e->fp >= e->sp && e->fp < d->high - 16 && !(e->fp & 7) &&
	       ((const uint64_t *)e->fp)[1] == e->caller;
}

/* The call at this entry is too deep: hide it, and what it calls. */
static int hide(struct depth *d, const struct depth_event *e)
{
	const struct depth_call *c = innermost_counted(d);

	/* In the frame of the last that is wanted, and inlined there for
	 * sure? */
	if (e->sp == top(d)->sp) {
		struct site_key key = {e->callee, e->caller, e->hook};
		uint32_t site = site_find(&key);

		if (!site || e->caller != top(d)->caller ||
		    !(frame_of(site) & CST_INLINED))
			return 0;
	}
	d->guard = return_slot(c);
	d->guarded = c->caller;
	d->hidden_callee = e->callee;
	d->hidden_fp = has_frame_pointer(d, e) ? e->fp : 1;
	d->n_hidden = 1;
	d->hidden_sp = e->sp;
	return 1;
}

/* Was the hook jumped to?  Then the registers are the caller's. */
static int is_tail(const struct depth_event *e)
{
	return e->hook == e->caller;
}

static int enter(struct depth *d, const struct depth_event *e, uint32_t limit)
{
	struct site_key key = {e->callee, e->caller, e->hook};
	uint32_t site;

	if (d->hidden_sp && e->sp <= d->hidden_sp && depth_guard_holds(d)) {
		d->n_hidden +=
			e->sp == d->hidden_sp && e->callee == d->hidden_callee;
		return 1;
	}
	d->hidden_sp = 0;
	if (!limit) {
		clear(d);
		return 0;
	}
	prune(d, e->sp);
	if (d->n_counted >= limit && hide(d, e))
		return 1;
	site = site_intern(&key, CST_ENTER);
	if (site && !site_is_muted(site))
		push(d, e, site);
	return 0;
}

/* 1: it is the hidden call's own exit, or one of what that had called. */
static int leave_hidden(struct depth *d, const struct depth_event *e,
			uint64_t sp)
{
	uint64_t hidden_sp = d->hidden_sp;
	int is_own = e->callee == d->hidden_callee;

	if (!depth_guard_holds(d)) {
		d->hidden_sp = 0;
		return 0;
	}
	if (sp < hidden_sp) {
		/* What it has put on the stack is there still. */
		if (is_own && !is_tail(e) && e->fp == d->hidden_fp)
			d->hidden_sp = 0;
		return 1;
	}
	if (sp == hidden_sp && is_of(e, d->hidden_callee)) {
		if (!--d->n_hidden)
			d->hidden_sp = 0;
		return 1;
	}
	if (sp == hidden_sp && (!d->n || top(d)->sp != sp))
		return 1; /* inlined into it */
	if (sp == hidden_sp) {
		for (uint32_t i = d->n; i && d->calls[i - 1].sp == sp; i--)
			if (d->calls[i - 1].callee == e->callee) {
				d->hidden_sp = 0;
				return 0;
			}
		return 1;
	}
	d->hidden_sp = 0;
	return is_own && d->n && sp < top(d)->sp;
}

static int leave(struct depth *d, const struct depth_event *e)
{
	/* The frame is gone but for the return address's place. */
	uint64_t sp = is_tail(e) ? e->sp - 8 : e->sp;

	if (d->hidden_sp && leave_hidden(d, e, sp))
		return 1;
	while (d->n && top(d)->sp < sp) {
		int is_own = is_tail(e) && top(d)->callee == e->callee &&
			     top(d)->caller == e->caller;

		pop(d);
		if (is_own)
			return 0;
	}
	for (uint32_t i = d->n; i && d->calls[i - 1].sp == sp; i--) {
		if (!is_of(e, d->calls[i - 1].callee))
			continue;
		while (d->n >= i)
			pop(d);
		return 0;
	}
	/* Lower than at its entry, by what it has put on the stack. */
	if (d->n && top(d)->callee == e->callee && top(d)->fp == e->fp &&
	    !is_tail(e) && has_frame_pointer(d, e))
		pop(d);
	return 0;
}

/* ---- where the stack is ----------------------------------------------------
 */

/* 0 or -1. */
static int find_stack(struct depth *d)
{
	uint64_t mask = signals_block();
	int is_main = sys_getpid() == sys_gettid();
	int status;

	lock_take();
	status = mappings_stack(is_main ? 0 : thread_pointer(), &d->low,
				&d->high);
	lock_drop();
	signals_restore(mask);
	return status;
}

static int prepare(struct depth *d)
{
	long got;

	if (d->calls)
		return 0;
	if (find_stack(d) < 0)
		return -1;
	got = sys_mmap(0, CALLS_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (got < 0)
		return -1;
	d->calls = (struct depth_call *)got;
	depth_alternate(self.alternate_low, self.alternate_size);
	return d->is_off ? -1 : 0;
}

void depth_alternate(uint64_t low, uint64_t size)
{
	struct depth *d = &depth_own;

	if (size && d->calls && low < d->high && low + size > d->low)
		give_up(d);
}

/* Is another event of this thread in the midst of this?  It was left by a jump
 * if that one's frame is no more. */
static int is_busy(struct depth *d)
{
	if (likely(!d->busy_sp))
		return 0;
	if (own_sp() < d->busy_sp)
		return 1;
	clear(d);
	d->busy_sp = 0;
	return 0;
}

/* 0: calls on this stack are not counted. */
static int begin(struct depth *d, uint64_t sp)
{
	uint32_t begun = depth_begun();
	uint32_t n_judged;

	if (d->is_off)
		return 0;
	if (d->calls && !is_on_stack(d, sp))
		return 0;
	if (is_busy(d) || self.busy_sp)
		return 0;
	d->busy_sp = own_sp();
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (d->begun != begun)
		clear(d);
	d->begun = begun;
	if (prepare(d) < 0) {
		give_up(d);
		d->busy_sp = 0;
		return 0;
	}
	/* Pairs with the reader's release: it has judged so many before. */
	n_judged = __atomic_load_n(&area->n_judged, __ATOMIC_ACQUIRE);
	if (d->n_judged != n_judged)
		count(d);
	d->n_judged = n_judged;
	if (is_on_stack(d, sp))
		return 1;
	d->busy_sp = 0;
	return 0;
}

static void end(struct depth *d)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	d->busy_sp = 0;
}

void depth_forked(void)
{
	depth_own.n_passed = depth_own.n_false =
		depth_own.calls ? DEPTH_TELL_AFTER : 0;
}

void depth_tell(void)
{
	struct depth *d = &depth_own;
	struct cst_record *r;
	uint64_t n;

	/* Without a record so far there was no such call. */
	if (likely(!d->n_passed) || !(self.thread || d->n_false) ||
	    self.busy_sp || state_page.has_guests || !state_is_on(state_now()))
		return;
	r = chunk_slot();
	if (!r)
		return;
	/* A handler that comes before this reports them all itself. */
	n = __atomic_exchange_n(&d->n_passed, 0, __ATOMIC_RELAXED) -
	    __atomic_exchange_n(&d->n_false, 0, __ATOMIC_RELAXED);
	cst_record_set(r, clock_ticks(), CST_PASSED, own_sp(), n);
}

/* 1: drop it. */
static int take(struct depth *d, const struct depth_event *e)
{
	if (e->kind == CST_EXIT)
		return leave(d, e);
	if (!enter(d, e, limit_now()))
		return 0;
	d->n_passed++;
	return 1;
}

int depth_drops(const struct depth_event *e)
{
	struct depth *d = &depth_own;
	int drops;

	if (!begin(d, e->sp)) {
		depth_tell();
		return 0;
	}
	drops = take(d, e);
	end(d);
	if (!drops || d->n_passed >= DEPTH_TELL_AFTER)
		depth_tell();
	return drops;
}

/* ---- what else happens ------------------------------------------------------
 */

/* In the frame that is jumped to, what is inlined may be over. */
static void doubt_inlined(struct depth *d)
{
	uint64_t sp = d->n ? top(d)->sp : 0;

	for (uint32_t i = d->n; i && d->calls[i - 1].sp == sp; i--) {
		struct depth_call *c = &d->calls[i - 1];

		if (!is_inlined(c->site))
			continue;
		c->is_doubtful = 1;
		d->n_counted -= c->is_counted;
		c->is_counted = 0;
	}
}

static int jump(struct depth *d, uint64_t sp)
{
	if (d->hidden_sp && sp < d->hidden_sp && depth_guard_holds(d))
		return 1;
	if (sp > d->hidden_sp || (d->n && top(d)->sp == d->hidden_sp))
		d->hidden_sp = 0;
	while (d->n && top(d)->sp < sp)
		pop(d);
	doubt_inlined(d);
	return 0;
}

int depth_jumps(uint64_t sp, int is_switch)
{
	struct depth *d = &depth_own;
	int drops = 0;

	/* What was known of open calls before a jump while the state is
	 * another one is not believed later. */
	if (!d->calls || d->is_off || !is_on_stack(d, sp))
		return 0;
	if (is_switch) {
		/* From this stack to this one, or to one that is within it. */
		if (is_on_stack(d, own_sp()))
			give_up(d);
		return 0;
	}
	if (!begin(d, sp))
		return 0;
	drops = jump(d, sp) && is_on_stack(d, own_sp());
	end(d);
	return drops;
}

void depth_end(void)
{
	struct depth *d = &depth_own;

	give_up(d);
	if (d->calls)
		sys_munmap((uint64_t)d->calls, CALLS_BYTES);
	d->calls = 0;
}

COLD void depth_heed(void)
{
	uint32_t on = CST_STATE_ON;

	if (!depth_is_limited() || state_now() != CST_STATE_ON)
		return;
	depth_forget();
	__atomic_compare_exchange_n(&state_page.state, &on, STATE_SHALLOW, 0,
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}
