/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recording a program that was not built for it: plans how its functions are
 * changed in memory to report their calls, for the shim in the program, and
 * says in the end what came of it.
 */
#ifndef CLI_PATCHING_H
#define CLI_PATCHING_H

#include "cstrace/engine.h"

struct patching {
	char *folder; /* of the plans, for the shim; or NULL */
	uint64_t n_patches;
	/* The files that were planned. */
	char **paths;
	struct cst_planned *plans;
	uint32_t n_files, cap_paths, cap_plans;
};

/* Plans the program at path and its libraries, but for those in the system's
 * folders that do not match modules (a regular expression, or NULL);
 * p->n_patches is 0 if no function can be patched.  Returns an exit code; a
 * failure was reported.  Release p in any case. */
int patching_prepare(struct patching *p, const char *path, const char *modules,
		     const struct cst_plan_wish *wish);

/* Prints what was patched, and what was not and why; program is what the user
 * called it. */
void patching_tell(const struct patching *p, const char *program);

/* Removes the folder, once the program has ended. */
void patching_release(struct patching *p);

#endif
