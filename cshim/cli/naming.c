/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "naming.h"

#include <stdlib.h>

enum { BATCH = 256, MOST_IDLE = 1000 };

struct naming {
	naming_tell_fn tell;
	void *arg;
};

struct naming *naming_new(naming_tell_fn tell, void *arg)
{
	struct naming *n = calloc(1, sizeof(*n));

	if (n)
		*n = (struct naming){.tell = tell, .arg = arg};
	return n;
}

void naming_free(struct naming *n)
{
	free(n);
}

static void answer(struct naming *n, struct cst_recorder *r,
		   const struct cst_question *q)
{
	(void)n;
	cst_recorder_answer(r, q->id, NULL, NULL, 0);
}

int naming_answer_all(struct naming *n, struct cst_recorder *r)
{
	struct cst_question questions[BATCH];
	int total = 0, got;

	while ((got = cst_recorder_questions(r, questions, BATCH)) > 0) {
		for (int i = 0; i < got; i++)
			answer(n, r, &questions[i]);
		total += got;
	}
	return total;
}

int naming_drain(struct naming *n, struct cst_recorder *r,
		 struct cst_error *err)
{
	int done, n_idle = 0;

	/* Questions are there whenever it says so; should they not be, better
	 * a row without its name than a command that hangs. */
	while (!(done = cst_recorder_drain(r, err)) && n_idle < MOST_IDLE)
		n_idle = naming_answer_all(n, r) ? 0 : n_idle + 1;
	/* With no live rows to draw, drain() does not wait for names. */
	naming_answer_all(n, r);
	return done < 0 ? done : 0;
}
