/* SPDX-License-Identifier: MIT
 *
 * The entry of a process in the area.
 */
#ifndef SHIM_PROCESS_H
#define SHIM_PROCESS_H

#include <stdint.h>

/* Adds this process to the area unless it is there; each fork child calls it,
 * too. The caller holds the lock.  Returns 0, or a positive errno. */
int process_register(void);
/* Adds an entry for the calling process, also for one that shares another's
 * memory; parent is the index + 1 of the process that made it, or 0.  Returns
 * its own index + 1, or 0 if the table is full, which it counts. */
uint32_t process_add(uint32_t parent);
/* Makes this process one that is in no area. */
void process_forget(void);

#endif
