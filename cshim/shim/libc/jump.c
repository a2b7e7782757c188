/* SPDX-License-Identifier: MIT
 *
 * longjmp runs no hooks.  Where it leads to shows which calls it unwinds: all
 * whose frames are below that stack pointer.  A record of swapcontext, too, has
 * where the thread continues.
 */
#include "core/chunk.h"
#include "core/control.h"
#include "core/depth.h"
#include "core/raw_clone.h"
#include "core/stops.h"
#include "core/watch.h"
#include "kernel/arch.h"
#include "kernel/lock.h"
#include "kernel/state.h"
#include "libc/interpose.h"
#include "libc/jump.h"

/* A handler that interrupted the shim's own work (signals.h) jumps out of it:
 * that work stays unfinished, so nothing can be recorded from now on. */
static void work_is_left(void)
{
	control_end();
	lock_drop();
	self.busy_sp = 0;
}

/* It goes on below our work.  On a stack of its own, nobody knows. */
static int is_within_handler(uint64_t sp)
{
	return own_sp() < self.busy_sp && sp < self.busy_sp;
}

static void put(uint32_t kind, uint64_t sp, uint64_t fp)
{
	struct cst_record *r = chunk_slot();

	if (r)
		cst_record_set(r, clock_ticks(), kind, sp, fp);
}

/* Without a record of this thread there is nothing to leave. */
void jump_tell(const struct jump *to)
{
	if (unlikely(watch_any()))
		watch_jump(to->sp, to->is_unwinders);
	if (unlikely(stops_any()) && to->is_unwinders)
		stops_unwind(to->sp);
	if (!state_is_on(state_now()) || !self.thread || self_now() != &self)
		return;
	if (unlikely(self.busy_sp)) {
		if (!is_within_handler(to->sp))
			work_is_left();
		return;
	}
	if (depth_jumps(to->sp, to->is_switch))
		return;
	put(CST_FRAME, to->pc, to->fp);
	put(CST_JUMP, to->sp,
	    to->is_unwinders  ? CST_BY_UNWINDER
	    : to->is_anywhere ? 0
			      : to->pc);
}

/* What the unwinder calls CFA is the stack pointer there. */
void jump_tell_frame(const struct unwinder *u, void *context, uint64_t ip)
{
	if (u->get_sp && u->get_register)
		jump_tell(
			&(struct jump){.sp = u->get_sp(context),
				       .fp = u->get_register(context, DWARF_FP),
				       .pc = ip + 1,
				       .is_anywhere = 1,
				       .is_unwinders = u->reports_handlers});
}

enum { SIGSETJMP_SIZE = 64 }; /* about; what is behind it calls no setjmp() */

static uint64_t target_pc(const void *env, int is_guarded)
{
	uint64_t pc = jump_target_pc(env, is_guarded);

	return libcs_sigsetjmp &&
			       pc - (uint64_t)libcs_sigsetjmp < SIGSETJMP_SIZE
		       ? jump_returned_pc(env)
		       : pc;
}

void before_longjmp(const void *env)
{
	int is_guarded = libcs_guards_jumps();

	libcs_need();
	jump_tell(&(struct jump){.sp = jump_target_sp(env, is_guarded),
				 .fp = jump_target_fp(env, is_guarded),
				 .pc = target_pc(env, is_guarded)});
}

/* A signal's context may go on anywhere, not behind a call only. */
void before_setcontext(const void *to)
{
	libcs_need();
	jump_tell(&(struct jump){.sp = context_sp(to),
				 .fp = context_fp(to),
				 .pc = context_pc(to) + 1,
				 .is_anywhere = 1,
				 .is_switch = 1});
}

void before_swapcontext(const void *from, const void *to)
{
	(void)from;
	libcs_need();
	jump_tell(&(struct jump){.sp = context_sp(to),
				 .fp = context_fp(to),
				 .pc = context_pc(to),
				 .is_switch = 1});
}
