/* SPDX-License-Identifier: MIT
 *
 * The hooks' other half: the events of functions whose code was patched.  The
 * compiler of such a function knows of no call there, so that all registers are
 * kept.  Callee and caller are as those of a hook; in place of the hook's
 * return address stands one word for all entries and one for all exits, so that
 * a call has two sites, however many places it can return from.
 */
#include "core/patched.h"
#include "core/event.h"
#include "core/site.h"
#include "kernel/arch.h"

/* Read by PATCH_FUNCTION. */
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

/* Returns whether there is more to do.  Without a call, as the hooks. */
static inline __attribute__((always_inline)) int
event(uint64_t callee, const uint64_t *returns, uint64_t hook, uint64_t fp)
{
	struct site_key key = {callee, *returns, hook};
	uint32_t state = state_now(), site;

	if (state == CST_STATE_OFF)
		return 0;
	if (unlikely(state != CST_STATE_ON))
		return 1;
	if (unlikely(!site_find_at_once(&key, &site)))
		site = site_find(&key);
	if (unlikely(!site))
		return 1;
	if (unlikely(site_verdict(site)))
		return site_verdict(site) != CST_MUTED;
	return !event_put(site, (uint64_t)returns, fp);
}

#define EVENT(name, hook, kind)                                            \
	__attribute__((used))                                              \
	HIDDEN int name##_event(uint64_t callee, const uint64_t *returns); \
	__attribute__((used)) HIDDEN void name##_later(                    \
		uint64_t callee, const uint64_t *returns, uint64_t fp);    \
	int name##_event(uint64_t callee, const uint64_t *returns)         \
	{                                                                  \
		return event(callee, returns, hook, callers_fp());         \
	}                                                                  \
	void name##_later(uint64_t callee, const uint64_t *returns,        \
			  uint64_t fp)                                     \
	{                                                                  \
		event_slow(callee, *returns, hook, (uint64_t)returns, fp,  \
			   kind);                                          \
	}

EVENT(enter, CST_PATCHED_ENTRY, CST_ENTER)
EVENT(exit, CST_PATCHED_EXIT, CST_EXIT)
EVENT(tail, CST_PATCHED_TAIL, CST_EXIT)

PATCH_FUNCTION(patched_enter, enter_event, enter_later, AT_STACK_POINTER);
PATCH_FUNCTION(patched_exit, exit_event, exit_later, AT_STACK_POINTER);
PATCH_FUNCTION(patched_tail, tail_event, tail_later, AT_STACK_POINTER);
PATCH_FUNCTION(patched_framed, enter_event, enter_later, AT_FRAME_POINTER);

extern HIDDEN char patched_enter[], patched_exit[], patched_tail[],
	patched_framed[];

EXPORT const uint64_t cstrace_slots[CST_PLAN_SLOTS] = {
	[CST_SLOT_ENTER] = (uint64_t)patched_enter,
	[CST_SLOT_EXIT] = (uint64_t)patched_exit,
	[CST_SLOT_TAIL] = (uint64_t)patched_tail,
	[CST_SLOT_FRAMED] = (uint64_t)patched_framed,
};
