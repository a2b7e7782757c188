/* SPDX-License-Identifier: MIT
 *
 * One event, and how it becomes a record.
 */
#ifndef SHIM_EVENT_H
#define SHIM_EVENT_H

#include "cstrace/layout.h"

/* Handles an event that the hook does not handle itself: the state is not
 * plainly "on", the site is new, or the chunk is full.  Async-signal-safe. */
void event_slow(uint64_t callee, uint64_t caller, uint64_t hook, uint64_t sp,
		uint64_t fp, enum cst_kind kind);

#endif
