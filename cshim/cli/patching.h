/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recording a program that was not built for it: plans how its functions are
 * changed in memory to report their calls, for the shim in the program, and
 * says in the end what came of it.
 */
#ifndef CLI_PATCHING_H
#define CLI_PATCHING_H

#include "cstrace/engine.h"

enum { PATCHING_LINE = 4096 };

/* What is wished: the functions, libraries of the system's (a regular
 * expression; NULL: none), whether all programs are meant that the recorded
 * one runs in turn, but for launchers, or only the user's own and its kin, and
 * whether calls into libraries that are not traced are wished for. */
struct patching_wish {
	struct cst_plan_wish plan;
	const char *modules;
	int is_of_all;
	int has_border;
	int has_hooks; /* functions are traced by them: none are patched */
};

struct patching {
	char *folder; /* of the plans, for the shim; or NULL */
	int lock;     /* which makes it ours */
	char *name;   /* of the recorded program's file, if it is patched */
	struct patching_wish wish;
	int wanted; /* the pipe by which the shim asks for plans */
	uint64_t n_patches;
	/* The files that were planned. */
	char **paths;
	struct cst_planned *plans;
	uint32_t n_files, cap_paths, cap_plans;
	/* The files that are traced, by patches or hooks, if the border is
	 * wished for. */
	char **callers;
	uint32_t n_callers, cap_callers;
	char line[PATCHING_LINE]; /* that is not complete yet */
	uint64_t n_line;
};

/* Makes the folder for the plans of a program, and of what it opens and runs in
 * turn.  Returns an exit code; a failure was reported.  Release p in any case.
 */
int patching_open(struct patching *p, const struct patching_wish *wish);

/* Plans the program at path and its libraries, but for those in the system's
 * folders that were not wished for and, unless all is, those with hooks;
 * p->n_patches is 0 if no function can be patched.  Returns an exit code; a
 * failure was reported. */
int patching_prepare(struct patching *p, const char *path);

/* Plans the border of the program at path and its libraries, those that have
 * hooks and those that were planned: calls from them into all others.  Returns
 * an exit code; a failure was reported. */
int patching_border(struct patching *p, const char *path);

/* Plans what the shim has asked for since; arg is the struct patching, so that
 * this is a watch's callback. */
void patching_answer(void *arg);

/* Plans one file that a process has loaded, but for a library that
 * patching_prepare() would leave out.  Returns an exit code; a failure was
 * reported, which it is for the program only. */
int patching_add(struct patching *p, const char *path, int is_program);
/* Returns whether functions of the file at path are to be patched. */
int patching_has(const struct patching *p, const char *path);
/* A file of the process is traced by its hooks.  Returns an exit code; a
 * failure was reported. */
int patching_add_caller(struct patching *p, const char *path);
/* Plans the border of all these files: calls from them into the n files at
 * paths, but for those of them that are traced themselves.  Returns an exit
 * code; a failure was reported. */
int patching_add_border(struct patching *p, const char *const *paths,
			uint32_t n);
/* No plans are made for what the process loads later. */
void patching_answer_no_more(struct patching *p);

/* Prints what was patched, and what was not and why; program is what the user
 * called it. */
void patching_tell(struct patching *p, const char *program);

/* Removes the folder, once the program has ended. */
void patching_release(struct patching *p);

#endif
