/* SPDX-License-Identifier: MIT
 *
 * Changes functions of the program, in memory, to report their calls: applies
 * the plans (cstrace/plan_layout.h) that the recorder made (plans.h).  What
 * cannot be done is written as a line into the file "refused" beside them: an
 * errno, the object's path ("": the program), and why, parted by tabs.  It is
 * done as the program starts, in its only thread, and for a library that is
 * opened later before any of its code runs.  Under gdb, which patches itself,
 * only the areas are mapped.
 */
#ifndef SHIM_PATCHES_H
#define SHIM_PATCHES_H

#include <stdint.h>
#include "cstrace/control.h"

/* Applies the plans that the environment names, if it does, as the program
 * starts and behind control_begin(). */
void patches_begin(char **environment);

/* Returns the area that holds pc, or NULL; its .eh_frame_hdr is at *frames.
 * Async-signal-safe. */
const struct cst_patched *patches_area(uint64_t pc, uint64_t *frames);

/* Returns whether libraries that are opened are to be patched. */
int patches_are_on(void);
/* From now on gdb is reported the libraries that are opened, and patches
 * them. */
void patches_tell(void);
/* Has gdb write a jump over a function.  Returns 0 if gdb does not patch. */
int patches_lead(uint64_t function, uint64_t to);
/* Patches the libraries that were loaded since it was last called, and frees
 * what it made for those that were unloaded.  The caller holds the dynamic
 * linker's lock, and none of the new ones has run. */
void patches_look(void);

/* Writes a refusal that is of the program itself. */
void patches_refuse(const char *why);

/* Maps the areas of the plans in the folder; another process writes the
 * patches.  An area that was mapped for the same plan before is used again. */
void patches_map(const char *folder);

#endif
