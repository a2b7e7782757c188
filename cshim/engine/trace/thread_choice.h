/* SPDX-License-Identifier: MIT
 *
 * The threads that a choice is about.
 */
#ifndef ENGINE_THREAD_CHOICE_H
#define ENGINE_THREAD_CHOICE_H

#include "trace/loader.h"

struct chosen {
	uint32_t process, ordinal, tid; /* 0: any */
};

/* CST_BAD_INPUT: the trace has none. */
int chosen_init(struct chosen *c, const struct cst_trace *t,
		const struct cst_choice *choice, struct cst_error *err);

static inline int chosen_is_all(const struct chosen *c)
{
	return !(c->process | c->ordinal | c->tid);
}

static inline int chosen_has(const struct chosen *c,
			     const struct trace_thread *thread)
{
	return (!c->process || c->process == thread->process) &&
	       (!c->ordinal || c->ordinal == thread->ordinal) &&
	       (!c->tid || c->tid == thread->tid);
}

#endif
