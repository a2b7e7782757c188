/* SPDX-License-Identifier: MIT
 *
 * The modes breakpoint and handshake: the reader sees each event before the
 * program goes on.
 */
#ifndef SHIM_SYNC_H
#define SHIM_SYNC_H

#include "cstrace/layout.h"

/* Calls the function that has gdb's breakpoint, or waits for the reader, as the
 * mode says.  callee, caller and kind are the event's; its record is already
 * written. */
void sync_event(uint64_t callee, uint64_t caller, enum cst_kind kind);

#endif
