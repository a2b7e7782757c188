/* SPDX-License-Identifier: MIT
 *
 * An alternate stack may lie anywhere, beside another one or in a frame: a
 * record says where, for an address does not show which stack it is of.  What a
 * program sets past libc, or has set before there was a record, is recorded
 * with the next chunk, or a moment later (thread_claimed()).
 */
#include <signal.h>
#include "core/sigstack.h"
#include "core/chunk.h"
#include "core/depth.h"
#include "core/raw_clone.h"
#include "core/signals.h"
#include "kernel/arch.h"
#include "kernel/state.h"
#include "kernel/syscall_gate.h"

/* Linux's SS_AUTODISARM: the kernel knows of none while a handler runs. */
static const int AUTODISARM = (int)(1u << 31);

/* The time that a mark is given: before that of every other record. */
enum { EARLIEST = 1 };

/* Signals blocked. */
static void look(struct self *me, int was_set)
{
	stack_t now = {.ss_flags = SS_DISABLE};
	int has_one;

	if (gate_call(SYS_sigaltstack, 0, (long)&now, 0, 0, 0, 0) < 0)
		return;
	has_one = !(now.ss_flags & SS_DISABLE);
	/* From such a one's handler on, wherever that goes, to its return. */
	if (!has_one && !was_set && me->alternate_disarms)
		return;
	me->alternate_low = has_one ? (uint64_t)now.ss_sp : 0;
	me->alternate_size = has_one ? now.ss_size : 0;
	me->alternate_disarms = (now.ss_flags & AUTODISARM) != 0;
	if (me == &self)
		depth_alternate(me->alternate_low, me->alternate_size);
}

void sigstack_tell_again(struct self *me)
{
	uint64_t size = me->alternate_size;

	if (me->asks)
		look(me, 0);
	if (size || me->alternate_size)
		cst_record_set((struct cst_record *)cursor_take(
				       &me->cursor, CST_RECORD_SIZE),
			       EARLIEST, CST_ALTERNATE, me->alternate_low,
			       me->alternate_size);
}

/* A thread without records tells with its first. */
void sigstack_tell(void)
{
	struct cst_record *r;
	uint64_t mask;

	if (!state_is_on(state_now()) || !self.thread || self.busy_sp ||
	    self_now() != &self)
		return;
	r = chunk_slot();
	if (!r)
		return;
	mask = signals_block();
	look(&self, 1);
	cst_record_set(r, clock_ticks(), CST_ALTERNATE, self.alternate_low,
		       self.alternate_size);
	signals_restore(mask);
}
