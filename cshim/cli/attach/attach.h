/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The shim in a program that runs already, and its functions patched, for as
 * long as the program is recorded.
 */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include "attach/hook_words.h"
#include "attach/tracee.h"
#include "process/live_code.h"
#include "process/remote_modules.h"

#include <limits.h>

struct attach {
	struct tracee tracee;
	struct live_code code;
	struct hook_words words;
	uint64_t state, control;	  /* of the shim, in the process */
	uint64_t entry, exit;		  /* its hooks */
	uint64_t patched;		  /* its table of what is patched */
	const volatile int *is_cancelled; /* by the user */
};

/* Reads the modules of the process and looks whether it can be recorded at all;
 * nothing stops for that.  Returns an exit code; why not was reported.  The
 * caller releases m in any case. */
int attach_modules(struct remote_modules *m, pid_t pid);

/* Has the process load the shim, write into the area at area_path, and report
 * the functions that have hooks and those that are planned in the folder. Waits
 * for a place where that is safe.  Returns an exit code; a failure was
 * reported.  End a in any case.
 */
int attach_begin(struct attach *a, pid_t pid, const char *area_path,
		 const char *folder);
/* Has it report the functions of what it has loaded since, m by now, which are
 * planned in the folder, if a thread comes to a safe place soon.  Returns 1, or
 * 0 with the reason in why. */
int attach_more(struct attach *a, const struct remote_modules *m,
		const char *area_path, const char *folder, char why[PATH_MAX]);
/* Puts the code back and switches the shim off.  It does nothing if nothing was
 * patched. */
void attach_undo(struct attach *a);
/* Frees what belongs to a. */
void attach_end(struct attach *a);

#endif
