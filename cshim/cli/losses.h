/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a trace lacks, printed on standard error.
 */
#ifndef CLI_LOSSES_H
#define CLI_LOSSES_H

#include "cstrace/engine.h"

/* Prints a line for each kind of library that was not traced. */
void losses_tell_untraced(const struct cst_status_report *s);

/* Prints what losses_tell_untraced() does, after a line on records that were
 * lost. */
void losses_tell(const struct cst_status_report *s);

#endif
