/* SPDX-License-Identifier: MIT
 *
 * Addresses that need a name or a line: gdb is asked for those of the process
 * that it debugs, the others are looked up in their files' debug information.
 */
#ifndef ENGINE_QUESTIONS_H
#define ENGINE_QUESTIONS_H

#include "names/names.h"
#include "sites/address_space.h"

#include <cstrace/engine.h>

struct questions {
	struct names *names;   /* borrowed */
	struct spaces *spaces; /* borrowed */
	int is_alone; /* there is no gdb: only what the files' debug information
			 does not answer is asked */
	/* private */
	struct asked *all;
	uint32_t n, cap;
	uint32_t n_fetched, n_answered;
};

/* Frees the memory of q and zeroes it. */
void questions_release(struct questions *q);

/* Asks what is at addr of the space; the answer goes to subject, a function or
 * a call site of the names.  If gdb cannot answer it, it is answered at once.
 * is_named: the function has its linkage name, only its file is wanted. */
void questions_add(struct questions *q, enum cst_question_kind kind,
		   struct space *space, uint64_t addr, uint32_t subject,
		   int is_named);

/* questions_n_open() returns how many questions are not answered,
 * questions_n_waiting() how many are not handed out. */
uint32_t questions_n_open(const struct questions *q);
uint32_t questions_n_waiting(const struct questions *q);

/* Sets the file and line of a call site whose call is at addr of the space, and
 * the file's path where it is here. */
void questions_set_site(struct questions *q, struct space *space, uint64_t addr,
			uint32_t call_site, const char *file, uint32_t line);

/* Hands out at most n questions that wait, into out; returns how many. */
int questions_take(struct questions *q, struct cst_question *out, int n);
/* Finds the object file in which the address of question id lies.  Returns 1
 * with it in *out, or 0 if it is not known. */
int questions_file(struct questions *q, uint32_t id, struct module_file *out);
/* Answers question id, once; name and file may be NULL and are copied.  Returns
 * the number of the function whose name changed, or UINT32_MAX. */
uint32_t questions_answer(struct questions *q, uint32_t id, const char *name,
			  const char *file, uint32_t line);

#endif
