/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `cstrace record --flight SIZE --core ./app`: the program keeps its newest
 * calls, with their values, for a core file.
 */
#ifndef CLI_RECORD_CORE_H
#define CLI_RECORD_CORE_H

#include "launch.h"
#include "options.h"

/* Becomes the program: l is prepared.  Returns only on failure, which was
 * reported, with an exit code. */
int record_core(const struct launch *l, const struct options *o);

#endif
