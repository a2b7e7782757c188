/* SPDX-License-Identifier: MIT */
#ifndef SHIM_PROCESS_H
#define SHIM_PROCESS_H

#include <stdint.h>

/* Enter this process into the area, once in each fork child as well.  Under
 * the lock.  0, or a positive errno. */
int process_register(void);
/* The same of a process within this one's memory: its index + 1, or 0. */
uint32_t process_add(uint32_t parent);

#endif
