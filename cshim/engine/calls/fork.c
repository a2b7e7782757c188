/* SPDX-License-Identifier: MIT
 *
 * Copies a thread's open calls when it forks, and opens them again in the
 * child.
 */
#include "calls/fork.h"

#include "calls/sigstack.h"
#include "calls/tails.h"

#include <stdlib.h>
#include <string.h>

/* Children may make their first calls long after their parent has forked the
 * next ones, the more so where they wait for a processor. */
enum {
	FIRST_SNAPSHOTS = 16, /* a power of two, as all sizes are */
	MOST_SNAPSHOTS = 4096,
	MOST_CALLS = 1 << 16, /* in more than the first ones */
};

static struct snapshot *place_of(const struct thread *t, uint32_t n_fork)
{
	return &t->snapshots[n_fork % t->cap_snapshots];
}

/* Where there is no memory the oldest ones are given up. */
static void make_room(struct thread *t, uint32_t n_fork)
{
	uint32_t cap =
		t->cap_snapshots ? t->cap_snapshots * 2 : FIRST_SNAPSHOTS;
	struct thread grown = {.cap_snapshots = cap};

	if (t->cap_snapshots &&
	    (!place_of(t, n_fork)->calls || cap > MOST_SNAPSHOTS ||
	     t->n_snapshot_calls > MOST_CALLS))
		return;
	grown.snapshots = calloc(cap, sizeof(*grown.snapshots));
	if (!grown.snapshots)
		return;
	for (uint32_t i = 0; i < t->cap_snapshots; i++)
		if (t->snapshots[i].calls)
			*place_of(&grown, t->snapshots[i].n_fork) =
				t->snapshots[i];
	free(t->snapshots);
	t->snapshots = grown.snapshots;
	t->cap_snapshots = cap;
}

static void shoot(struct snapshot *shot, const struct stack *s)
{
	if (s->n)
		memcpy(shot->calls + shot->n, s->calls,
		       s->n * sizeof(*shot->calls));
	shot->n += s->n;
}

/* What a handler on an alternate stack has interrupted goes on in the child,
 * too. */
void fork_snapshot(struct thread *t, uint32_t n_fork)
{
	const struct stack *s = stack_now(t), *below = NULL;
	struct snapshot *shot;
	uint32_t n = s->n;

	make_room(t, n_fork);
	if (!t->cap_snapshots)
		return;
	shot = place_of(t, n_fork);
	t->n_snapshot_calls -= shot->n;
	free(shot->calls);
	*shot = (struct snapshot){.n_fork = n_fork};
	if (s == t->handlers && s->interrupted)
		below = s->interrupted->ordinal ? s->interrupted : t->own;
	if (below)
		n += below->n;
	shot->calls = malloc(n * sizeof(*shot->calls) + 1);
	if (!shot->calls)
		return;
	if (below)
		shoot(shot, below);
	shoot(shot, s);
	t->n_snapshot_calls += n;
}

static const struct snapshot *find_snapshot(const struct thread *t,
					    uint32_t n_fork)
{
	const struct snapshot *shot =
		t->cap_snapshots ? place_of(t, n_fork) : NULL;

	return n_fork && shot && shot->n_fork == n_fork ? shot : NULL;
}

/* It is the child's from the fork on. */
static void inherit(struct callstack *c, struct thread *child,
		    const struct open_call *call, uint64_t time)
{
	struct open_call own = *call;
	struct stack *s = child->own;

	own.is_patched = own.is_seed && own.is_patched;
	if (own.start < time)
		own.start = time;
	if (extent_holds(&child->alternate, own.cfa))
		s = sigstack_make(c, child, own.cfa);
	if (!s)
		return;
	own.is_tailed = 0;
	stack_reopen(c, child, s, &own);
	if (call->is_tailed && s->n)
		tails_note(s);
	child->current = s;
	if (s != child->own)
		s->interrupted = child->own;
}

void fork_inherit(struct callstack *c, struct thread *child, uint64_t time,
		  uint64_t cfa, int is_exit)
{
	struct thread *parent = child->heir_of;
	const struct snapshot *shot = find_snapshot(parent, child->n_fork);
	const struct stack *now = stack_now(parent);

	child->heir_of = NULL;
	for (uint32_t i = 0; shot && i < shot->n; i++)
		inherit(c, child, &shot->calls[i], time);
	for (uint32_t i = 0; !shot && i < now->n; i++) {
		const struct open_call *o = &now->calls[i];

		if (o->cfa > cfa || (is_exit && o->cfa == cfa))
			inherit(c, child, o, time);
	}
}

void fork_release(struct thread *t)
{
	for (uint32_t i = 0; i < t->cap_snapshots; i++)
		free(t->snapshots[i].calls);
	free(t->snapshots);
}
