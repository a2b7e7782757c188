/* SPDX-License-Identifier: MIT
 *
 * Keeps the questions about addresses, answers those that gdb cannot from the
 * files themselves, and hands out the others.
 */
#include "sites/questions.h"
#include "base/array.h"

#include <stdlib.h>

struct asked {
	uint64_t addr;
	struct space *space;
	uint32_t subject; /* function, or call site */
	uint8_t kind;	  /* enum cst_question_kind */
	uint8_t is_answered;
	uint8_t is_named; /* the function has its linkage name */
};

void questions_release(struct questions *q)
{
	free(q->all);
	*q = (struct questions){0};
}

static void answer_function(struct questions *q, const struct asked *a,
			    const char *name, const char *file)
{
	const struct function *f = &q->names->functions[a->subject];
	char readable[16384];

	if (a->is_named || !name) {
		names_set_function(q->names, a->subject, f->name, f->symbol,
				   f->module, file);
		return;
	}
	cst_demangle(name, readable, sizeof(readable));
	names_set_function(q->names, a->subject, readable, NULL, f->module,
			   file);
}

void questions_set_site(struct questions *q, struct space *space, uint64_t addr,
			uint32_t call_site, const char *file, uint32_t line)
{
	names_set_site(q->names, call_site, file, line);
	/* To read a library's, and unpack it, would hold up the program for the
	 * sake of a link. */
	if (file && *file != '/' && modules_is_read(space->modules, addr))
		names_set_path(q->names, call_site,
			       modules_path(space->modules, addr, file));
}

/* gdb knows nothing of that process: the file itself does. */
static void answer_self(struct questions *q, const struct asked *a)
{
	const char *name = NULL, *file = NULL;
	uint32_t line = 0;

	if (a->kind == CST_ASK_LINE) {
		modules_line(a->space->modules, a->addr, &file, &line);
		questions_set_site(q, a->space, a->addr, a->subject, file,
				   line);
	} else {
		modules_definition(a->space->modules, a->addr, &name, &file,
				   &line);
		answer_function(q, a, name, file);
	}
}

static int is_answerable(const struct questions *q, const struct asked *a)
{
	if (q->is_alone)
		return modules_is_foreign(a->space->modules, a->addr);
	return a->space == spaces_asker(q->spaces);
}

void questions_add(struct questions *q, enum cst_question_kind kind,
		   struct space *space, uint64_t addr, uint32_t subject,
		   int is_named)
{
	struct asked asked = {
		.addr = addr,
		.space = space,
		.subject = subject,
		.kind = (uint8_t)kind,
		.is_named = (uint8_t)is_named,
	};

	if (!is_answerable(q, &asked)) {
		answer_self(q, &asked);
		return;
	}
	if (array_room(&q->all, &q->cap, q->n + 1ull) == 0)
		q->all[q->n++] = asked;
}

uint32_t questions_n_open(const struct questions *q)
{
	return q->n - q->n_answered;
}

uint32_t questions_n_waiting(const struct questions *q)
{
	return q->n - q->n_fetched;
}

int questions_take(struct questions *q, struct cst_question *out, int n)
{
	int i = 0;

	for (; i < n && q->n_fetched < q->n; q->n_fetched++) {
		struct asked *a = &q->all[q->n_fetched];

		/* It has exec'ed since. */
		if (!is_answerable(q, a)) {
			answer_self(q, a);
			a->is_answered = 1;
			q->n_answered++;
			continue;
		}
		out[i++] = (struct cst_question){
			.addr = a->addr, .id = q->n_fetched, .kind = a->kind};
	}
	return i;
}

int questions_file(struct questions *q, uint32_t id, struct module_file *out)
{
	return id < q->n &&
	       modules_file(q->all[id].space->modules, q->all[id].addr, out);
}

uint32_t questions_answer(struct questions *q, uint32_t id, const char *name,
			  const char *file, uint32_t line)
{
	struct asked *a = &q->all[id];

	if (id >= q->n_fetched || a->is_answered)
		return UINT32_MAX;
	a->is_answered = 1;
	q->n_answered++;
	if (a->kind == CST_ASK_LINE) {
		questions_set_site(q, a->space, a->addr, a->subject, file,
				   line);
		return UINT32_MAX;
	}
	answer_function(q, a, name, file);
	return a->subject;
}
