/* SPDX-License-Identifier: MIT
 *
 * Patches of plans in the code of a process whose threads stand still: which of
 * them can be written or taken back where the threads stand.
 */
#ifndef ENGINE_LIVE_CODE_H
#define ENGINE_LIVE_CODE_H

#include <sys/types.h>

#include "cstrace/control.h"
#include "cstrace/plan_layout.h"

/* One loaded file that has a plan. */
struct live_file {
	struct cst_plan *plan;
	struct cst_patched where;
	unsigned char *is_left; /* by function: its code stays as it is */
	int is_written;
};

struct live_code {
	struct live_file *all;
	uint32_t n, cap;
	uint32_t n_left; /* functions in which a thread stood */
};

/* Reads cstrace_patched, which is at that address of the process; memory is a
 * descriptor of /proc/PID/mem.  Returns what the caller frees, or NULL: out of
 * memory, or the process has ended. */
struct cst_patched_table *live_code_table(int memory, uint64_t address);

/* Finds the plans in the folder that the process has mapped the areas of, but
 * for those that `known` has written, which may be NULL.  memory is a
 * descriptor of /proc/PID/mem, table the address of cstrace_patched.  Returns
 * 1, or 0: out of memory, or the process has ended.  Release c in any case. */
int live_code_init(struct live_code *c, int memory, uint64_t table,
		   const char *folder, const struct live_code *known);
/* Moves what `more` has to the end of c.  Returns 1, or 0: out of memory; then
 * nothing has changed. */
int live_code_join(struct live_code *c, struct live_code *more);
void live_code_release(struct live_code *c);

static inline const struct cst_patch *
live_file_patches(const struct live_file *f)
{
	return cst_plan_at(f->plan, &f->plan->patches);
}

/* Writes the bytes of the patch p as they are in this process. */
void live_file_bytes(const struct live_file *f, const struct cst_patch *p,
		     uint8_t out[CST_PATCH_MAX]);

/* Has the thread go on at pc.  Returns 0 if it does not. */
typedef int (*live_move_fn)(void *arg, pid_t tid, uint64_t pc);

/* The threads, which the caller has stopped by ptrace. */
struct live_threads {
	pid_t pid;
	int memory; /* descriptor of /proc/PID/mem */
	const pid_t *all;
	uint32_t n;
	live_move_fn move;
	void *arg;
};

/* Looks where the threads stand before the patches come or, with is_undone, go.
 * A thread that stands within an instruction's displaced neighbours is moved to
 * their copies; a function that a signal handler interrupted there is left as
 * it is (is_left, n_left). */
void live_code_look(struct live_code *c, const struct live_threads *t,
		    int is_undone);

#endif
