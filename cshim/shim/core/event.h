/* SPDX-License-Identifier: MIT
 *
 * One event, and how it becomes a record.
 */
#ifndef SHIM_EVENT_H
#define SHIM_EVENT_H

#include "core/thread.h"
#include "cstrace/layout.h"
#include "kernel/arch.h"
#include "kernel/state.h"

/* Puts an event into the thread's chunk, if it has room.  Returns whether it
 * has. */
static inline __attribute__((always_inline)) int
event_put_at(uint64_t time, uint32_t site, uint64_t sp, uint64_t fp)
{
	uint64_t slot = cursor_take(&self.cursor, CST_RECORD_SIZE);

	if (unlikely(cursor_is_full(slot)))
		return 0;
	ask_for_line(slot + CURSOR_AHEAD);
	cst_record_set((struct cst_record *)slot, time, site, sp, fp);
	return 1;
}

/* The like, of now. */
static inline __attribute__((always_inline)) int
event_put(uint32_t site, uint64_t sp, uint64_t fp)
{
	return event_put_at(clock_ticks(), site, sp, fp);
}

/* Handles an event that the hook does not handle itself, because the state is
 * another than CST_STATE_ON, the site is new, or the chunk is full.  callee and
 * caller are the hook's arguments, hook its return address; sp and fp are as in
 * struct cst_record.  Async-signal-safe. */
void event_slow(uint64_t callee, uint64_t caller, uint64_t hook, uint64_t sp,
		uint64_t fp, enum cst_kind kind);

/* Handles an event whatever the state: as event_slow(), but for what that looks
 * at first.  Its caller's caller's registers are passed on: it must be jumped
 * to, by a function that has restored them. */
void event_save(uint64_t callee, uint64_t caller, uint64_t hook, uint64_t sp,
		uint64_t fp, enum cst_kind kind) HIDDEN;

/* Handle an entry, or an exit, at a site whose verdict is CST_COPIED, while the
 * state is CST_STATE_ON; jumped to like event_save(). */
void event_save_entry(uint64_t site, uint64_t sp, uint64_t fp) HIDDEN;
void event_save_exit(uint64_t site, uint64_t sp, uint64_t fp) HIDDEN;

struct cst_copy;

/* Handles such an event in any way; steps are what numbers_begin() returned for
 * the site.  time 0: it is when the values have been copied.  Jumped to like
 * event_save(). */
void event_save_values(uint64_t site, uint64_t sp, uint64_t fp, uint64_t time,
		       const struct cst_copy *steps) HIDDEN;

struct depth_event;

/* Handles an event whose registers are known, whatever the state, as
 * event_slow() does.  Async-signal-safe. */
void event_take(const struct depth_event *e);

/* Returns the state to go by, after obeying gdb if the state asks for that.
 * Async-signal-safe. */
uint32_t event_state(void);

#endif
