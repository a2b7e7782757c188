/* SPDX-License-Identifier: MIT
 *
 * The sync modes (breakpoint, handshake): each event is reported before the
 * program goes on.
 */
#ifndef SHIM_SYNC_H
#define SHIM_SYNC_H

#include "cstrace/layout.h"

/* Stops for gdb's breakpoint, or waits for the reader, as the mode says; the
 * record of the event is written. */
void sync_event(uint64_t callee, uint64_t caller, enum cst_kind kind);

#endif
