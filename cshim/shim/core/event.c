/* SPDX-License-Identifier: MIT
 *
 * The slow way from a hook to a record: everything is looked at again.
 */
#include "core/event.h"
#include "core/chunk.h"
#include "core/control.h"
#include "core/copy.h"
#include "core/depth.h"
#include "core/numbers.h"
#include "core/site.h"
#include "core/stops.h"
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

/* Puts the event of a site that is known into the thread's chunk.  Returns
 * whether there was room.  time 0: it is now. */
static int put(const struct depth_event *e, uint32_t site, uint64_t time)
{
	if (site_verdict(site) == CST_COPIED) {
		if (!time && e->kind != CST_ENTER)
			time = clock_ticks();
		return copy_put(&(struct copy_event){e->registers, time, e->sp,
						     e->fp, site, e->kind});
	}
	return event_put(site, e->sp, e->fp);
}

/* Is it too deep?  A guest's calls are on a stack that only it knows. */
static int is_passed_over(const struct depth_event *e, uint32_t state)
{
	return state != CST_STATE_ON &&
	       (state == STATE_SHALLOW || depth_is_limited()) &&
	       !state_page.has_guests && depth_drops(e);
}

/* Makes the record of an event that is wanted. */
static void write_record(const struct depth_event *e, uint32_t state)
{
	struct site_key key = {e->callee, e->caller, e->hook};
	uint64_t time = clock_ticks();
	uint32_t site = site_intern(&key, e->kind);
	struct cst_record *r;

	if (!site || site_is_muted(site))
		return;
	if (site_verdict(site) == CST_COPIED) {
		if (!put(e, site, e->kind == CST_ENTER ? 0 : time))
			return;
	} else {
		r = chunk_slot();
		if (!r)
			return;
		/* Whatever this took is in no duration of the function
		 * itself. */
		if (e->kind == CST_ENTER)
			time = clock_ticks();
		cst_record_set(r, time, site, e->sp, e->fp);
	}
	if (state == CST_STATE_SYNC)
		sync_event(e->callee, e->caller, e->kind);
}

static void record(const struct depth_event *e)
{
	uint32_t state = event_state();

	if (!state_is_on(state) || chunk_is_busy() || is_passed_over(e, state))
		return;
	write_record(e, state);
}

/* Like the hook's own way, but for the depth. */
static __attribute__((noinline)) void event_shallow(const struct depth_event *e)
{
	struct site_key key = {e->callee, e->caller, e->hook};
	uint32_t site;

	if (unlikely(self.busy_sp || state_page.has_guests)) {
		record(e);
		return;
	}
	if (depth_drops(e))
		return;
	site = site_find(&key);
	if (site && site_is_muted(site))
		return;
	if (unlikely(!site || !put(e, site, 0)))
		write_record(e, STATE_SHALLOW);
}

/* Like the hook's own way, but for the state. */
static __attribute__((noinline)) void counted(const struct depth_event *e)
{
	struct site_key key = {e->callee, e->caller, e->hook};
	uint32_t site;

	if (unlikely(!stops_any() || self.busy_sp || state_page.has_guests)) {
		record(e);
		return;
	}
	site = site_find(&key);
	if (unlikely(!site || state_now() != CST_STATE_SYNC ||
		     state_page.mode != CST_MODE_RING || depth_is_limited()))
		record(e);
	else if (likely(!site_is_muted(site)) && unlikely(!put(e, site, 0)))
		record(e);
	if (e->kind == CST_ENTER)
		stops_enter(&(struct stop_event){key, e->registers}, NULL);
}

/* What is known of a call by its hook. */
static uint32_t flags_of(const struct depth_event *e)
{
	if (e->hook > CST_PATCHED_LAST)
		return 0;
	return OPEN_PATCHED | (cst_patched_ends_any(e->hook) ? OPEN_ANY : 0) |
	       (cst_patched_jumps(e->hook) ? OPEN_LEFT : 0);
}

static void watched_exit(const struct depth_event *e, struct stop_event *at,
			 const struct watched_call *call)
{
	struct open_call ended;
	int has_stops = stops_any();

	if (call->flags & OPEN_LEFT) {
		if (watch_exit(call, &ended) == 0 && has_stops)
			stops_leave(at, &ended);
		return;
	}
	if (watch_exit(call, &ended) == 0 && has_stops)
		stops_exit(at, &ended);
	/* What it returns is what those return that have jumped to it. */
	at->key.hook = CST_PATCHED_EXIT;
	while (call->flags & OPEN_PATCHED &&
	       open_calls_end_tailed(e->sp, &ended)) {
		at->key.callee = ended.callee;
		if (has_stops)
			stops_exit(at, &ended);
	}
}

/* The callbacks' own time is their caller's. */
static COLD void watched(const struct depth_event *e)
{
	const struct watched_call call = {.callee = e->callee,
					  .caller = e->caller,
					  .sp = e->sp,
					  .kind = CST_CALL,
					  .flags = flags_of(e),
					  .left_to = e->left_to};
	struct stop_event at = {{e->callee, e->caller, e->hook}, e->registers};
	struct open_call *opened = NULL;

	if (watch_is_quiet()) {
		if (watch_is_gdbs())
			record(e);
		return;
	}
	if (!watch_calls()) {
		counted(e);
		return;
	}
	if (e->kind == CST_ENTER)
		watch_enter(&call, &opened);
	record(e);
	if (e->kind == CST_ENTER && stops_any())
		stops_enter(&at, opened);
	if (e->kind == CST_EXIT)
		watched_exit(e, &at, &call);
	if (stops_any())
		stops_lose(open_calls_lost());
}

static COLD void event_any(const struct depth_event *e)
{
	if (unlikely(state_now() == CST_STATE_ASK)) {
		/* Before there is thread-local data, as in a static program's
		 * own memcpy(). */
		if (control_is_too_early())
			return;
		control_obey(); /* conditions may have come */
	}
	/* A callback that removed itself still runs. */
	if (unlikely(watch_any() || self.callback_sp))
		watched(e);
	else
		counted(e);
}

static inline __attribute__((always_inline)) void
take(const struct depth_event *e)
{
	if (state_now() == STATE_SHALLOW && likely(!self.callback_sp))
		event_shallow(e);
	else
		event_any(e);
}

void event_take(const struct depth_event *e)
{
	if (state_now() != STATE_SHALLOW || unlikely(self.callback_sp) ||
	    !depth_hides(e->callee, e->sp, e->fp, e->kind))
		take(e);
}

/* What event_save() calls. */
__attribute__((used)) void event_saved(uint64_t callee, uint64_t caller,
				       uint64_t hook, uint64_t sp, uint64_t fp,
				       enum cst_kind kind,
				       struct copy_registers registers) HIDDEN;

void event_saved(uint64_t callee, uint64_t caller, uint64_t hook, uint64_t sp,
		 uint64_t fp, enum cst_kind kind,
		 struct copy_registers registers)
{
	const struct depth_event e = {
		.callee = callee,
		.caller = caller,
		.hook = hook,
		.sp = sp,
		.fp = fp,
		.kind = kind,
		.registers = &registers,
	};

	take(&e);
}

SAVING_FUNCTION(event_save, event_saved, rcx);

static __attribute__((noinline)) void values_put(const struct copy_registers *r,
						 uint64_t site, uint64_t time,
						 uint64_t sp, uint64_t fp)
{
	const struct cst_site *s = &site_index.sites[site];
	enum cst_kind kind = (enum cst_kind)s->kind;

	if (likely(!self.busy_sp))
		copy_put(&(struct copy_event){r, time, sp, fp, (uint32_t)site,
					      kind});
	else
		event_any(&(struct depth_event){s->callee, s->caller, s->hook,
						sp, fp, kind, r, 0});
}

/* What event_save_values() calls. */
__attribute__((used)) void event_values(uint64_t site, uint64_t sp, uint64_t fp,
					uint64_t time,
					const struct cst_copy *steps,
					struct copy_registers registers) HIDDEN;

/* Any numbers, then anything. */
void event_values(uint64_t site, uint64_t sp, uint64_t fp, uint64_t time,
		  const struct cst_copy *steps, struct copy_registers registers)
{
	if (unlikely(self.busy_sp ||
		     !numbers_put(&registers, steps, (uint32_t)site, time, sp,
				  fp)))
		values_put(&registers, site, time, sp, fp);
}

SAVING_FUNCTION(event_save_values, event_values, rsi);

__attribute__((noinline)) void event_slow(uint64_t callee, uint64_t caller,
					  uint64_t hook, uint64_t sp,
					  uint64_t fp, enum cst_kind kind)
{
	if (state_now() == STATE_SHALLOW && likely(!self.callback_sp) &&
	    depth_hides(callee, sp, fp, kind))
		return;
	event_save(callee, caller, hook, sp, fp, kind);
}
