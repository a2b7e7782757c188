/* SPDX-License-Identifier: MIT
 *
 * Addresses that want a name or a line: gdb is asked for those of the process
 * that it has, the others are looked up in their files' debug information.
 */
#ifndef ENGINE_QUESTIONS_H
#define ENGINE_QUESTIONS_H

#include "names/names.h"
#include "sites/address_space.h"

#include <cstrace/engine.h>

struct questions {
	struct names *names;   /* borrowed */
	struct spaces *spaces; /* borrowed */
	int is_alone;	       /* no gdb: asked is only what the files' debug
				* information does not answer itself */
	/* private */
	struct asked *all;
	uint32_t n, cap;
	uint32_t n_told, n_answered;
};

void questions_release(struct questions *q);

/* Ask for what subject (a function or call site of the names) is at addr.
 * is_named: the function has its linkage name, only its file is wanted. */
void questions_add(struct questions *q, enum cst_question_kind kind,
		   struct space *space, uint64_t addr, uint32_t subject,
		   int is_named);

/* Not answered yet; not handed out yet. */
uint32_t questions_n_open(const struct questions *q);
uint32_t questions_n_waiting(const struct questions *q);

/* Fill at most n that wait; returns how many. */
int questions_take(struct questions *q, struct cst_question *out, int n);
/* In which file the question's address lies.  0: not known. */
int questions_file(struct questions *q, uint32_t id, struct module_file *out);
/* Returns the number of the function whose name changed, or UINT32_MAX. */
uint32_t questions_answer(struct questions *q, uint32_t id, const char *name,
			  const char *file, uint32_t line);

#endif
