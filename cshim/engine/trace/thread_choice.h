/* SPDX-License-Identifier: MIT
 *
 * The threads that a choice is about.
 */
#ifndef ENGINE_THREAD_CHOICE_H
#define ENGINE_THREAD_CHOICE_H

#include "trace/loader.h"

struct thread_choice {
	uint32_t process, ordinal, tid; /* 0: any */
};

/* Finds the threads that the choice is about.  Returns 0, or CST_BAD_INPUT if
 * the trace has none of them. */
int thread_choice_init(struct thread_choice *c, const struct cst_trace *t,
		       const struct cst_choice *choice, struct cst_error *err);

static inline int thread_choice_is_all(const struct thread_choice *c)
{
	return !(c->process | c->ordinal | c->tid);
}

static inline int thread_choice_has(const struct thread_choice *c,
				    const struct trace_thread *thread)
{
	return (!c->process || c->process == thread->process) &&
	       (!c->ordinal || c->ordinal == thread->ordinal) &&
	       (!c->tid || c->tid == thread->tid);
}

#endif
