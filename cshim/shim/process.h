/* SPDX-License-Identifier: MIT */
#ifndef SHIM_PROCESS_H
#define SHIM_PROCESS_H

/* Enter this process into the area, once in each fork child as well.  Under
 * the lock.  0, or a positive errno. */
int process_register(void);

#endif
