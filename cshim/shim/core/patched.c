/* SPDX-License-Identifier: MIT
 *
 * The hooks' other half: the events of functions whose code was patched.  The
 * compiler of such a function knows of no call there, so that all registers are
 * kept.  Callee and caller are as those of a hook; in place of the hook's
 * return address stands one word for all entries and one for all exits, so that
 * a call has two sites, however many places it can return from.
 */
#include "core/patched.h"
#include "core/copy.h"
#include "core/depth.h"
#include "core/edge.h"
#include "core/ends_check.h"
#include "core/event.h"
#include "core/numbers.h"
#include "core/site.h"
#include "core/stops.h"
#include "kernel/arch.h"
#include "kernel/x86_64_patch.h"

#include <stddef.h>

/* Read by PATCH_OTHER. */
extern HIDDEN uint32_t patched_mask;
extern HIDDEN uint64_t patched_room;
uint32_t patched_mask;
uint64_t patched_room = 512;

void patched_prepare(void)
{
	uint64_t room;
	uint32_t mask = vectors_saved(&room);

	patched_room = room;
	patched_mask = mask;
}

/* Is there room in the chunk for whatever a copy program emits?  Then nothing
 * of libc is called, which may use vectors. */
static int has_room(void)
{
	enum { MOST = CST_RAW_MAX / CST_TEXT_BYTES + 2 };

	return (self.cursor & (CST_CHUNK_SIZE - 1)) <
	       CURSOR_FULL - MOST * CST_RECORD_SIZE;
}

static int put_values(const struct copy_event *e)
{
	if (unlikely(self.busy_sp))
		return 0;
	return numbers_put(e->registers, numbers_begin(e->site), e->site,
			   e->time, e->sp, e->fp) ||
	       (has_room() && copy_put(e));
}

#define PATCH_C(name)                                                     \
	__attribute__((used)) HIDDEN int name(uint64_t, const uint64_t *, \
					      uint64_t,                   \
					      const struct copy_registers *)

PATCH_C(patched_event);
PATCH_C(patched_later);

/* Behind the registers are those of vectors and the other general ones, as
 * PATCH_OTHER pushes them, then the return address of the slot's function. */
static uint64_t reported_at(const struct copy_registers *registers)
{
	enum { N_PUSHED = CST_N_REGS + 8 + 8 };

	return ((const uint64_t *)registers)[N_PUSHED];
}

/* Returns whether there is more to do, for which the vectors are to be saved.
 */
int patched_event(uint64_t callee, const uint64_t *returns, uint64_t hook,
		  const struct copy_registers *registers)
{
	struct site_key key = {callee, *returns, hook};
	struct copy_event e = {.registers = registers,
			       .sp = (uint64_t)returns,
			       .fp = registers->r[CST_REG_RBP]};

	if (unlikely(ends_are_checked))
		ends_check(callee, e.sp, hook, reported_at(registers));
	if (unlikely(state_now() != CST_STATE_ON))
		return state_now() != CST_STATE_OFF;
	e.site = site_find(&key);
	if (unlikely(!e.site))
		return 1;
	switch (site_verdict(e.site)) {
	case CST_MUTED:
		return 0;
	case CST_COPIED:
		e.kind = (enum cst_kind)site_index.sites[e.site].kind;
		e.time = e.kind == CST_ENTER ? 0 : clock_ticks();
		return !put_values(&e);
	default:
		return !event_put(e.site, e.sp, e.fp);
	}
}

int patched_later(uint64_t callee, const uint64_t *returns, uint64_t hook,
		  const struct copy_registers *registers)
{
	const struct depth_event e = {
		.callee = callee,
		.caller = *returns,
		.hook = hook,
		.sp = (uint64_t)returns,
		.fp = registers->r[CST_REG_RBP],
		.kind = cst_patched_enters(hook) ? CST_ENTER : CST_EXIT,
		.registers = registers,
		.left_to = cst_patched_jumps(hook)
				   ? jump_target(reported_at(registers))
				   : 0,
	};

	if (!stops_is_again(callee, e.sp, hook))
		event_take(&e);
	return 0;
}

/* ---- the border ------------------------------------------------------------
 */

/* Ranges of addresses, up to one of size 0; one from 0 on is free.  Read by
 * FROM_TRACED, at any time. */
enum { MAX_TRACED = 1024 };
struct traced_range {
	uint64_t first, size;
};
extern HIDDEN struct traced_range traced_ranges[MAX_TRACED + 1];
struct traced_range traced_ranges[MAX_TRACED + 1];

void patched_trace(uint64_t first, uint64_t end)
{
	struct traced_range *r = traced_ranges;

	while (r->size && r->first)
		r++;
	if (r == traced_ranges + MAX_TRACED)
		return;
	if (r->size) /* no other address is in it meanwhile */
		__atomic_store_n(&r->size, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&r->first, first, __ATOMIC_RELEASE);
	__atomic_store_n(&r->size, end - first, __ATOMIC_RELEASE);
}

void patched_untrace(uint64_t first)
{
	for (struct traced_range *r = traced_ranges; r->size; r++)
		if (r->first == first)
			__atomic_store_n(&r->first, 0, __ATOMIC_RELEASE);
}

void patched_untrace_all(void)
{
	for (struct traced_range *r = traced_ranges; r->size; r++)
		__atomic_store_n(&r->first, 0, __ATOMIC_RELEASE);
}

static int has_border;

void patched_border(int is_there)
{
	has_border = is_there;
}

static int is_traced(uint64_t address)
{
	for (const struct traced_range *r = traced_ranges; r->size; r++)
		if (address - __atomic_load_n(&r->first, __ATOMIC_RELAXED) <
		    __atomic_load_n(&r->size, __ATOMIC_RELAXED))
			return 1;
	return 0;
}

void patched_end(const void *function, uint64_t place)
{
	uint64_t caller = *(const uint64_t *)place;

	if (has_border && state_now() != CST_STATE_OFF && is_traced(caller))
		event_slow((uint64_t)function, caller, CST_PATCHED_RETURN,
			   place, 0, CST_EXIT);
}

/* ---- the slots -------------------------------------------------------------
 */

/* What the fast way has as numbers. */
_Static_assert(CST_STATE_ON == 1 && CST_STATE_OFF == 2 &&
		       offsetof(struct state_page, state) == 0 &&
		       offsetof(struct site_index, sites) == 8 &&
		       offsetof(struct site_index, has_verdicts) == 16 &&
		       sizeof(struct cst_site) == 32,
	       "PATCH_FUNCTION");
_Static_assert(offsetof(struct edge_table, mask) == 0 &&
		       offsetof(struct edge_table, edges) == 8 &&
		       EDGE_ENTRY == 0 && EDGE_END == 1 && EDGE_NEAR == 2 &&
		       EDGE_FAR == 4 && offsetof(struct edge, tags) == 0 &&
		       offsetof(struct edge, caller) == 16 &&
		       offsetof(struct edge, sites) == 24 &&
		       sizeof(struct edge) == 32 &&
		       offsetof(struct cst_site, callee) == 0 &&
		       offsetof(struct cst_site, verdict) == 24 &&
		       CST_RECORDED == 0,
	       "PATCH_FUNCTION");
_Static_assert(offsetof(struct self, cursor) == 0 &&
		       CST_CHUNK_SIZE == 1 << 16 && CURSOR_FULL == 63984 &&
		       CURSOR_AHEAD == 512 &&
		       offsetof(struct cst_record, time) == 0 &&
		       offsetof(struct cst_record, site_and_sp) == 8 &&
		       offsetof(struct cst_record, sp_and_fp) == 16 &&
		       CST_RECORD_SIZE == 24,
	       "PATCH_FUNCTION");
_Static_assert(CST_PATCHED_ENTRY == 1 && CST_PATCHED_EXIT == 2 &&
		       CST_PATCHED_TAIL == 3 && CST_PATCHED_FRAMED == 4 &&
		       CST_PATCHED_RETURN == 5 && CST_PATCHED_BORDER == 6 &&
		       CST_PATCHED_BEGUN == 7 && CST_PATCHED_DEEP == 8 &&
		       CST_PATCHED_FRAMED_EXIT == 9 && CST_PATCHED_PASS == 10,
	       "PATCH_FUNCTION");

PATCH_FUNCTION(patched_enter, 1, ENTRY, STACK_POINTER, FROM_ANYWHERE);
PATCH_FUNCTION(patched_exit, 2, END, STACK_POINTER, FROM_ANYWHERE);
PATCH_FUNCTION(patched_tail, 3, END, STACK_POINTER, FROM_ANYWHERE);
PATCH_FUNCTION(patched_framed, 4, ENTRY, FRAME_POINTER, FROM_ANYWHERE);
PATCH_FUNCTION(patched_begun, 7, ENTRY, FRAME_POINTER, FROM_ANYWHERE);
PATCH_FUNCTION(patched_deep, 8, ENTRY, TOLD_PLACE, FROM_ANYWHERE);
PATCH_FUNCTION(patched_framed_exit, 9, END, FRAME_POINTER, FROM_ANYWHERE);
PATCH_FUNCTION(border_enter, 6, ENTRY, STACK_POINTER, FROM_TRACED);
PATCH_FUNCTION(border_exit, 2, END, STACK_POINTER, FROM_TRACED);
PATCH_FUNCTION(border_return, 5, END, STACK_POINTER, FROM_TRACED);
PATCH_FUNCTION(border_tail, 3, END, STACK_POINTER, FROM_TRACED);
PATCH_FUNCTION(border_pass, 10, END, STACK_POINTER, FROM_TRACED);
CHECKED_FUNCTION(checked_enter, 1, STACK_POINTER, FROM_ANYWHERE);
CHECKED_FUNCTION(checked_exit, 2, STACK_POINTER, FROM_ANYWHERE);
CHECKED_FUNCTION(checked_tail, 3, STACK_POINTER, FROM_ANYWHERE);
CHECKED_FUNCTION(checked_framed, 4, FRAME_POINTER, FROM_ANYWHERE);
CHECKED_FUNCTION(checked_begun, 7, FRAME_POINTER, FROM_ANYWHERE);
CHECKED_FUNCTION(checked_deep, 8, TOLD_PLACE, FROM_ANYWHERE);
CHECKED_FUNCTION(checked_framed_exit, 9, FRAME_POINTER, FROM_ANYWHERE);
CHECKED_FUNCTION(checked_border_enter, 6, STACK_POINTER, FROM_TRACED);
CHECKED_FUNCTION(checked_border_exit, 2, STACK_POINTER, FROM_TRACED);
CHECKED_FUNCTION(checked_border_return, 5, STACK_POINTER, FROM_TRACED);
CHECKED_FUNCTION(checked_border_tail, 3, STACK_POINTER, FROM_TRACED);
CHECKED_FUNCTION(checked_border_pass, 10, STACK_POINTER, FROM_TRACED);
PATCH_OTHER;

extern HIDDEN char patched_enter[], patched_exit[], patched_tail[],
	patched_framed[], border_enter[], border_exit[], border_return[],
	border_tail[], border_pass[], patched_begun[], patched_deep[],
	patched_framed_exit[], patched_event_returns[], patched_later_returns[],
	patched_late_returns[];
extern HIDDEN char checked_enter[], checked_exit[], checked_tail[],
	checked_framed[], checked_border_enter[], checked_border_exit[],
	checked_border_return[], checked_border_tail[], checked_border_pass[],
	checked_begun[], checked_deep[], checked_framed_exit[];

EXPORT const uint64_t cstrace_slots[CST_PLAN_SLOTS] = {
	[CST_SLOT_ENTER] = (uint64_t)patched_enter,
	[CST_SLOT_EXIT] = (uint64_t)patched_exit,
	[CST_SLOT_TAIL] = (uint64_t)patched_tail,
	[CST_SLOT_FRAMED] = (uint64_t)patched_framed,
	[CST_SLOT_BORDER_ENTER] = (uint64_t)border_enter,
	[CST_SLOT_BORDER_EXIT] = (uint64_t)border_exit,
	[CST_SLOT_BORDER_RETURN] = (uint64_t)border_return,
	[CST_SLOT_BEGUN] = (uint64_t)patched_begun,
	[CST_SLOT_DEEP] = (uint64_t)patched_deep,
	[CST_SLOT_FRAMED_EXIT] = (uint64_t)patched_framed_exit,
	[CST_SLOT_BORDER_TAIL] = (uint64_t)border_tail,
	[CST_SLOT_BORDER_PASS] = (uint64_t)border_pass,
};

static const uint64_t checked_slots[CST_PLAN_SLOTS] = {
	[CST_SLOT_ENTER] = (uint64_t)checked_enter,
	[CST_SLOT_EXIT] = (uint64_t)checked_exit,
	[CST_SLOT_TAIL] = (uint64_t)checked_tail,
	[CST_SLOT_FRAMED] = (uint64_t)checked_framed,
	[CST_SLOT_BORDER_ENTER] = (uint64_t)checked_border_enter,
	[CST_SLOT_BORDER_EXIT] = (uint64_t)checked_border_exit,
	[CST_SLOT_BORDER_RETURN] = (uint64_t)checked_border_return,
	[CST_SLOT_BEGUN] = (uint64_t)checked_begun,
	[CST_SLOT_DEEP] = (uint64_t)checked_deep,
	[CST_SLOT_FRAMED_EXIT] = (uint64_t)checked_framed_exit,
	[CST_SLOT_BORDER_TAIL] = (uint64_t)checked_border_tail,
	[CST_SLOT_BORDER_PASS] = (uint64_t)checked_border_pass,
};

const uint64_t *patched_slots(void)
{
	return ends_are_checked ? checked_slots : cstrace_slots;
}

/* Where the frame of patched_other() is found by rbx. */
EXPORT const uint64_t cstrace_patched_returns[] = {
	(uint64_t)patched_event_returns,
	(uint64_t)patched_later_returns,
	(uint64_t)patched_late_returns,
};
