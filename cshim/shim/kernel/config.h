/* SPDX-License-Identifier: MIT
 *
 * What to do where no gdb says it: the environment.
 */
#ifndef SHIM_CONFIG_H
#define SHIM_CONFIG_H

#include "cstrace/layout.h"

/* Once, and only where nothing was poked: CSTRACE_AREA=PATH, which `cstrace
 * record' sets, gives the area and the mode; CSTRACE_FILE=PATH a file to be
 * made for it.  Creates nothing.  Under the
 * lock, or before there are threads. */
void config_read(struct cst_control *control, char **environment);

/* The value of that variable, or NULL. */
const char *config_value(char **environment, const char *name);

/* It said so: no gdb looks after this process. */
int config_is_own(void);

/* Where the environment lies, as libc has it now. */
char **config_environment(void);

#endif
