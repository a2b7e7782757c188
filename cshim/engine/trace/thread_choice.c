/* SPDX-License-Identifier: MIT
 *
 * Reads the process and thread of a choice, and checks that the trace has them.
 */
#include "trace/thread_choice.h"

#include "base/error.h"

static int has_any(const struct thread_choice *c, const struct cst_trace *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (thread_choice_has(c, &t->threads[i]))
			return 1;
	return 0;
}

int thread_choice_init(struct thread_choice *c, const struct cst_trace *t,
		       const struct cst_choice *choice, struct cst_error *err)
{
	const char *colon = choice->process ? ":" : "";

	*c = (struct thread_choice){choice->process, choice->thread, 0};
	if (thread_choice_is_all(c) || has_any(c, t))
		return 0;
	/* Or the kernel's number, which the rows show. */
	*c = (struct thread_choice){choice->process, 0, choice->thread};
	if (c->tid && has_any(c, t))
		return 0;
	return cst_fail(CST_BAD_INPUT, err,
			"no thread %.*u%s%u: the trace has %u",
			choice->process ? 1 : 0, choice->process, colon,
			choice->thread, t->n_threads);
}
