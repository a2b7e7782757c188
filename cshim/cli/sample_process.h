/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Samples a process that runs already into a trace file.
 */
#ifndef CLI_SAMPLE_PROCESS_H
#define CLI_SAMPLE_PROCESS_H

#include "options.h"

/* Returns an exit code of `c`; a rate that is too high was reported. */
int sample_process_rate(const struct command *c, const struct options *o);

/* Takes samples of process o->pid, at o->sample_hz (0: as many as are usual)
 * for o->sample_ns, into o->output, until the process ends or SIGINT or SIGTERM
 * comes.  Says how many unless is_silent.  Returns an exit code; a failure was
 * reported. */
int sample_process(const struct options *o, int is_silent);

#endif
