/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recording a program that was not built for it: plans how its functions are
 * changed in memory to report their calls, for the shim in the program, and
 * says in the end what came of it.
 */
#ifndef CLI_PATCHING_H
#define CLI_PATCHING_H

#include "cstrace/engine.h"

/* Which functions: those like the regular expression (NULL: all), of at least
 * so many bytes. */
struct plan_wish {
	const char *functions;
	uint64_t min_size;
};

/* A file that was planned. */
struct patched_file {
	char *path;
	struct cst_planned planned;
};

struct patching {
	char *folder; /* of the plans, for the shim; or NULL */
	uint64_t n_patches;
	struct patched_file *files;
	uint32_t n_files, cap_files;
};

/* Plans the program at path and its libraries, but for those in the system's
 * folders; p->n_patches is 0 if no function can be patched.  Returns an exit
 * code; a failure was reported.  Release p in any case. */
int patching_prepare(struct patching *p, const char *path,
		     const struct plan_wish *wish);

/* Prints what was patched, and what was not and why; program is what the user
 * called it. */
void patching_tell(const struct patching *p, const char *program);

/* Removes the folder, once the program has ended. */
void patching_release(struct patching *p);

#endif
