/* SPDX-License-Identifier: MIT
 *
 * The sync road: an event is told before the program goes on.
 */
#ifndef SHIM_SYNC_H
#define SHIM_SYNC_H

#include "cstrace/layout.h"

/* The record is written: stop for gdb's breakpoint, or wait for the reader,
 * as the mode says. */
void sync_event(uint64_t callee, uint64_t caller, enum cst_kind kind);

#endif
