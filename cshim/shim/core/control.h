/* SPDX-License-Identifier: MIT
 *
 * What gdb wants.
 */
#ifndef SHIM_CONTROL_H
#define SHIM_CONTROL_H

#include <stdint.h>
#include "kernel/state.h"

extern HIDDEN struct cst_control control;

/* If the state asks, look at cstrace_control and do as it says.  Returns the
 * state to go by.  Async-signal-safe. */
uint32_t control_obey(void);

/* Off from now on, whatever gdb says, for the clock cannot be read any more. */
void control_end(void);
int control_has_ended(void);

/* A library was unloaded: forget the sites that were in it.
 * Async-signal-safe. */
void control_unloaded(void);

#endif
