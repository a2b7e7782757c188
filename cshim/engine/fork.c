/* SPDX-License-Identifier: MIT */
#include "fork.h"

#include <stdlib.h>
#include <string.h>

void fork_snapshot(struct thread *t, uint32_t n_fork)
{
	const struct stack *s = t->current;
	struct snapshot *shot;

	if (!t->snapshots)
		t->snapshots = calloc(SNAPSHOTS, sizeof(*t->snapshots));
	if (!t->snapshots)
		return;
	shot = &t->snapshots[n_fork % SNAPSHOTS];
	free(shot->calls);
	*shot = (struct snapshot){.n_fork = n_fork};
	shot->calls = malloc(s->n * sizeof(*shot->calls) + 1);
	if (!shot->calls)
		return;
	if (s->n)
		memcpy(shot->calls, s->calls, s->n * sizeof(*shot->calls));
	shot->n = s->n;
}

static const struct snapshot *find_snapshot(const struct thread *t,
					    uint32_t n_fork)
{
	const struct snapshot *shot =
		t->snapshots ? &t->snapshots[n_fork % SNAPSHOTS] : NULL;

	return n_fork && shot && shot->n_fork == n_fork ? shot : NULL;
}

/* It is the child's from the fork on. */
static void inherit(struct callstack *c, struct thread *child,
		    const struct open_call *call, uint64_t time)
{
	struct open_call own = *call;

	if (own.start < time)
		own.start = time;
	callstack_reopen(c, child, &own);
}

void fork_inherit(struct callstack *c, struct thread *child, uint64_t time,
		  uint64_t cfa, int is_exit)
{
	const struct thread *parent = child->heir_of;
	const struct snapshot *shot = find_snapshot(parent, child->n_fork);
	const struct stack *now = parent->current;

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
	for (int i = 0; t->snapshots && i < SNAPSHOTS; i++)
		free(t->snapshots[i].calls);
	free(t->snapshots);
}
