/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a trace lacks, printed on standard error.
 */
#ifndef CLI_LOSSES_H
#define CLI_LOSSES_H

#include "cstrace/engine.h"

/* Prints a line for each thing that was not traced (cst_losses_untraced()). */
void losses_tell_untraced(const struct cst_losses *l);

/* Prints a line for each cause of losses (cst_losses_text()), then what
 * losses_tell_untraced() does. */
void losses_tell(const struct cst_losses *l);

#endif
