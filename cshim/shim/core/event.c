/* SPDX-License-Identifier: MIT
 *
 * The slow way from a hook to a record: everything is looked at again.
 */
#include "core/event.h"
#include "core/chunk.h"
#include "core/control.h"
#include "core/site.h"
#include "core/sync.h"
#include "core/watch.h"
#include "kernel/arch.h"
#include "kernel/state.h"

uint32_t event_state(void)
{
	uint32_t state = state_now();

	if (!state_is_on(state) && state != STATE_LOCAL)
		state = control_obey();
	return state;
}

static void record(uint64_t callee, uint64_t caller, uint64_t hook, uint64_t sp,
		   uint64_t fp, enum cst_kind kind)
{
	struct site_key key = {callee, caller, hook};
	uint32_t state = event_state();
	struct cst_record *r;
	uint64_t time;
	uint32_t site;

	if (!state_is_on(state) || chunk_is_busy())
		return;
	time = clock_ticks();
	site = site_intern(&key, kind);
	if (!site || site_is_muted(site))
		return;
	r = chunk_slot();
	if (!r)
		return;
	/* Whatever this took is in no duration of the function itself. */
	if (kind == CST_ENTER)
		time = clock_ticks();
	cst_record_set(r, time, site, sp, fp);
	if (state == CST_STATE_SYNC)
		sync_event(callee, caller, kind);
}

/* The callbacks' own time is their caller's. */
static COLD void watched(uint64_t callee, uint64_t caller, uint64_t hook,
			 uint64_t sp, uint64_t fp, enum cst_kind kind)
{
	const struct watched_call call = {
		.callee = callee, .caller = caller, .sp = sp, .kind = CST_CALL};

	if (watch_is_quiet())
		return;
	if (kind == CST_ENTER)
		watch_enter(&call, NULL);
	record(callee, caller, hook, sp, fp, kind);
	if (kind == CST_EXIT)
		watch_exit(&call, NULL);
}

COLD void event_slow(uint64_t callee, uint64_t caller, uint64_t hook,
		     uint64_t sp, uint64_t fp, enum cst_kind kind)
{
	/* A callback that removed itself still runs. */
	if (unlikely(watch_any() || self.callback_sp))
		watched(callee, caller, hook, sp, fp, kind);
	else
		record(callee, caller, hook, sp, fp, kind);
}
