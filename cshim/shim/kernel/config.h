/* SPDX-License-Identifier: MIT
 *
 * Reads from the environment what the shim is to do without gdb.
 */
#ifndef SHIM_CONFIG_H
#define SHIM_CONFIG_H

#include "cstrace/layout.h"

/* Reads the environment into control, once, and only if gdb has written nothing
 * into it: CSTRACE_AREA=PATH, which `cstrace record` sets, gives the area and
 * the mode; CSTRACE_FILE=PATH names a file to be made for it;
 * CSTRACE_FLIGHT=SIZE has the newest calls kept in memory.  Creates nothing.
 * The caller holds the lock, or there are no threads yet. */
void config_read(struct cst_control *control, char **environment);

/* Returns the value of that variable of the environment, or NULL. */
const char *config_value(char **environment, const char *name);

/* Returns whether config_read() has found a variable: no gdb controls this
 * process. */
int config_is_own(void);

/* Returns the environment as libc has it now, or what config_early() was given
 * last, or NULL. */
char **config_environment(void);

/* Sets what is the environment until libc knows it; NULL: it does by now. */
void config_early(char **environment);

#endif
