/* SPDX-License-Identifier: MIT
 *
 * Changes functions of the program, in memory, to report their calls: applies
 * the plans (cstrace/plan_layout.h) that the recorder made.  They are in the
 * folder that CSTRACE_PLANS names: for each loaded object the file of its
 * build-id, with ".plan".  What cannot be done is written as a line into the
 * file "refused" there: an errno, the object's path ("": the program), and why,
 * parted by tabs.  It is done as the program starts, in its only thread, and
 * not under gdb, which patches itself.
 */
#ifndef SHIM_PATCHES_H
#define SHIM_PATCHES_H

#include <stdint.h>
#include "cstrace/control.h"

/* Returns the area that holds pc, or NULL; its .eh_frame_hdr is at *frames.
 * Async-signal-safe. */
const struct cst_patched *patches_area(uint64_t pc, uint64_t *frames);

#endif
