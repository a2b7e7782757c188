/* SPDX-License-Identifier: MIT
 *
 * The two hooks.  The way through them that nearly every event takes has no
 * call, no lock, no system call, and touches neither errno nor any register
 * that the callee may not.  All other ways begin with a jump, never a call: so
 * event_save() finds the caller's registers (tests/shim/hot_path.c).
 */
#include "core/event.h"
#include "core/site.h"
#include "core/thread.h"
#include "cstrace/cstrace.h"
#include "kernel/arch.h"
#include "kernel/state.h"

#define INLINE static inline __attribute__((always_inline))

/* An event of a site with a verdict but CST_RECORDED. */
INLINE void event_of_verdict(uint8_t verdict, uint32_t site, uint64_t sp,
			     uint64_t fp, enum cst_kind kind)
{
	if (verdict == CST_MUTED)
		return;
	if (kind == CST_ENTER)
		event_save_entry(site, sp, fp);
	else
		event_save_exit(site, sp, fp);
}

/* "On", but the site is not where it is looked for first.  Apart from the
 * hooks, for the search wants registers that they need not save. */
static __attribute__((noinline)) void
event_search(uint64_t callee, uint64_t caller, uint64_t hook, uint64_t sp,
	     uint64_t fp, enum cst_kind kind)
{
	struct site_key key = {callee, caller, hook};
	uint32_t site = site_find(&key);
	uint8_t verdict = site ? site_verdict(site) : CST_RECORDED;

	if (verdict) {
		event_of_verdict(verdict, site, sp, fp, kind);
		return;
	}
	if (unlikely(!site || !event_put(site, sp, fp)))
		event_save(callee, caller, hook, sp, fp, kind);
}

/* While some site has a verdict, which lies in the area. */
INLINE void event_judged(const struct site_key *key, uint64_t sp, uint64_t fp,
			 enum cst_kind kind)
{
	struct site_probe probe = site_probe(key);
	uint32_t site;
	uint8_t verdict;

	if (unlikely(!site_find_at_once(&probe, key, &site))) {
		event_search(key->callee, key->caller, key->hook, sp, fp, kind);
		return;
	}
	verdict = site_verdict(site);
	if (unlikely(verdict)) {
		event_of_verdict(verdict, site, sp, fp, kind);
		return;
	}
	if (unlikely(!event_put(site, sp, fp)))
		event_slow(key->callee, key->caller, key->hook, sp, fp, kind);
}

INLINE void event(uint64_t callee, uint64_t caller, uint64_t hook, uint64_t sp,
		  uint64_t fp, enum cst_kind kind)
{
	struct site_key key = {callee, caller, hook};
	uint32_t state = state_now();
	struct site_probe probe;
	uint64_t time;
	uint32_t site;

	if (state == CST_STATE_OFF)
		return;
	if (unlikely(state != CST_STATE_ON)) {
		event_slow(callee, caller, hook, sp, fp, kind);
		return;
	}
	if (unlikely(site_has_verdicts())) {
		event_judged(&key, sp, fp, kind);
		return;
	}
	/* The processor begins no load behind the reading of the clock before
	 * that has ended: so the first is asked for before. */
	probe = site_probe(&key);
	__builtin_prefetch(&probe.slots[probe.i]);
	time = clock_ticks();
	if (unlikely(!site_find_at_once(&probe, &key, &site))) {
		event_search(callee, caller, hook, sp, fp, kind);
		return;
	}
	if (unlikely(!event_put_at(time, site, sp, fp)))
		event_slow(callee, caller, hook, sp, fp, kind);
}

EXPORT void __cyg_profile_func_enter(void *callee, void *caller)
{
	event((uint64_t)callee, (uint64_t)caller,
	      (uint64_t)__builtin_return_address(0), callers_sp(), callers_fp(),
	      CST_ENTER);
}

EXPORT void __cyg_profile_func_exit(void *callee, void *caller)
{
	event((uint64_t)callee, (uint64_t)caller,
	      (uint64_t)__builtin_return_address(0), callers_sp(), callers_fp(),
	      CST_EXIT);
}
