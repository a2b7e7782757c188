/* SPDX-License-Identifier: MIT */
#ifndef SHIM_PROCESS_H
#define SHIM_PROCESS_H

#include <stdint.h>

/* Adds this process to the area; each fork child calls it as well, once.  The
 * caller holds the lock.  Returns 0, or a positive errno. */
int process_register(void);
/* Adds a process that shares this one's memory; returns its index + 1, or 0. */
uint32_t process_add(uint32_t parent);

#endif
