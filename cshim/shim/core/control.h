/* SPDX-License-Identifier: MIT
 *
 * What gdb or `cstrace record` wants the shim to do: struct cst_control.
 */
#ifndef SHIM_CONTROL_H
#define SHIM_CONTROL_H

#include <stdint.h>
#include "kernel/state.h"

/* What gdb has written, which the shim exports as cstrace_control. */
extern HIDDEN struct cst_control control;

/* Looks at what gdb or the environment wants, as the program starts. */
void control_begin(char **environment);

/* Reads cstrace_control and obeys it, if the state asks for that.  Returns the
 * state to go by.  Async-signal-safe. */
uint32_t control_obey(void);

/* Returns whether the thread has no thread-local data yet: libc copies with
 * memcpy() before there is a place for it, and a static program's own one may
 * have hooks. */
int control_is_too_early(void);

/* control_end() switches recording off for good, whatever gdb wants, because
 * the clock cannot be read any more; control_has_ended() returns whether it
 * did. */
void control_end(void);
int control_has_ended(void);

/* Makes the state fit watch_any(), which has changed. */
void control_watched(void);

/* Has the next event look again at what stops_obey() heeds. */
void control_ask(void);

/* Has the process record no more, or again, whatever gdb wants.  Returns
 * whether it records now. */
int control_pause(int pauses);

/* Reports that a library was unloaded: the sites that were in it are dropped.
 * Async-signal-safe. */
void control_unloaded(void);

#endif
