/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a trace lacks, told on standard error.
 */
#ifndef CLI_LOSSES_H
#define CLI_LOSSES_H

#include "cstrace/engine.h"

/* Of all causes. */
uint64_t losses_records(const struct cst_status_report *s);

/* A line for each kind of library that was not traced. */
void losses_tell_untraced(const struct cst_status_report *s);

/* The same, after a line on records that were lost. */
void losses_tell(const struct cst_status_report *s);

#endif
