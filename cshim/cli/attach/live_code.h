/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Patches of plans, written into the code of a process whose threads stand
 * still, and taken back.
 */
#ifndef CLI_LIVE_CODE_H
#define CLI_LIVE_CODE_H

#include "attach/tracee.h"
#include "cstrace/control.h"
#include "cstrace/plan_layout.h"

/* One loaded file that has a plan. */
struct live_file {
	struct cst_plan *plan;
	struct cst_patched where;
	unsigned char *is_left; /* by function: it is not patched */
	int is_written;
};

struct live_code {
	struct live_file *all;
	uint32_t n, cap;
	uint32_t n_left; /* functions in which a thread stood */
};

/* Finds the plans in the folder that the process has mapped the areas of; table
 * is the address of cstrace_patched in it.  Returns 1, or 0: out of memory, or
 * the process is gone.  Release c in any case. */
int live_code_init(struct live_code *c, const struct tracee *t, uint64_t table,
		   const char *folder);
void live_code_release(struct live_code *c);

/* Writes the patches, while all threads stand still.  A thread that stands
 * within an instruction's displaced neighbours is moved to their copies; a
 * function that a signal handler interrupted there is left out.  Returns the
 * number of files that were patched; the others' code is not that of the plan.
 */
uint32_t live_code_write(struct live_code *c, struct tracee *t);
/* Writes the old bytes back, while all threads stand still. */
void live_code_restore(struct live_code *c, struct tracee *t);

#endif
