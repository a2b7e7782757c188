/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a process that runs already is called.
 */
#ifndef CLI_PROCESS_NAMES_H
#define CLI_PROCESS_NAMES_H

#include <limits.h>
#include <sys/types.h>

struct process_names {
	char module[PATH_MAX]; /* the path of its file */
	char command[4096];    /* its command line, cut if it is longer */
};

/* Reads them from /proc; what cannot be read is "". */
void process_names_read(struct process_names *p, pid_t pid);

#endif
