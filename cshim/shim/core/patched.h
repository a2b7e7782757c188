/* SPDX-License-Identifier: MIT
 *
 * What the code that was patched into a program without hooks calls.
 */
#ifndef SHIM_PATCHED_H
#define SHIM_PATCHED_H

#include "cstrace/plan_layout.h"
#include "kernel/state.h"

/* The functions for the slots of a plan's area, by enum cst_plan_slot. */
extern EXPORT const uint64_t cstrace_slots[CST_PLAN_SLOTS];

/* Returns these, or others that check each event (ends_check.h). */
const uint64_t *patched_slots(void);

/* To be called before any of them can run. */
void patched_prepare(void);

/* Calls from code in [first, end) are reported by the slots of border plans,
 * until patched_untrace() with the same first.  One thread at a time calls
 * them. */
void patched_trace(uint64_t first, uint64_t end);
void patched_untrace(uint64_t first);
void patched_untrace_all(void);

/* Says whether there are border plans. */
void patched_border(int is_there);

/* A function of ours that programs call in place of libc's is about to return.
 * If there are border plans and traced code has called it, which its stub has
 * reported, its call ends.  place is where its return address is. */
void patched_end(const void *function, uint64_t place);

#endif
