/* SPDX-License-Identifier: MIT
 *
 * One event, and how it becomes a record.
 */
#ifndef SHIM_EVENT_H
#define SHIM_EVENT_H

#include "cstrace/layout.h"

/* Handles an event that the hook does not handle itself, because the state is
 * another than CST_STATE_ON, the site is new, or the chunk is full.  callee and
 * caller are the hook's arguments, hook its return address; sp and fp are as in
 * struct cst_record.  Async-signal-safe. */
void event_slow(uint64_t callee, uint64_t caller, uint64_t hook, uint64_t sp,
		uint64_t fp, enum cst_kind kind);

/* Returns the state to go by, after obeying gdb if the state asks for that.
 * Async-signal-safe. */
uint32_t event_state(void);

#endif
