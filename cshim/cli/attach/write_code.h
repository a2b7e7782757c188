/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Patches of plans, written into the code of a process and taken back.
 */
#ifndef CLI_WRITE_CODE_H
#define CLI_WRITE_CODE_H

#include "attach/tracee.h"
#include "process/live_code.h"

/* Writes the patches, while all threads stand still.  Returns the number of
 * files that were patched; the others' code is not that of the plan. */
uint32_t write_code(struct live_code *c, const struct tracee *t);
/* Writes the old bytes back, while all threads of t stand still: the process,
 * or a fork child that has its patches. */
void restore_code(struct live_code *c, const struct tracee *t);

/* Returns whether the process of t, which may be any, has the patches. */
int is_code_written(const struct live_code *c, const struct tracee *t);

/* Forgets files that were patched and are not any more: they have gone, and may
 * have come again. */
void forget_gone_code(struct live_code *c, const struct tracee *t);

#endif
