/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records the calls of a process that runs already.
 */
#ifndef CLI_RECORD_PROCESS_H
#define CLI_RECORD_PROCESS_H

#include "options.h"

/* Records process o->pid for o->sample_ns (0: until it ends, or SIGINT or
 * SIGTERM comes) into o->output, and leaves it as it was.  Returns an exit
 * code; a failure was reported. */
int record_process(const struct options *o);

#endif
