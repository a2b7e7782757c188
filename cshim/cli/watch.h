/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `cstrace record' does while the program runs: answers the recorder's
 * questions, passes signals on, waits for the end.
 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <signal.h>
#include <sys/types.h>

#include "bfd_names.h"
#include "cstrace/engine.h"

struct watch {
	struct cst_recorder *recorder;
	struct bfd_names *naming;
	pid_t pid;
	int on_signal; /* saves the flight; 0: none */
	void (*save)(void *arg);
	void *arg;
	/* private */
	int signals, wanted; /* descriptors */
	uint64_t start_ns;
	uint8_t has_progress, is_quiet;
};

/* Prepares w, before there are threads; *blocked gets the signals that are
 * handled in here.  Returns an exit code; a failure was reported. */
int watch_open(struct watch *w, sigset_t *blocked);
void watch_close(struct watch *w);

/* A cst_callbacks.wanted; arg is the watch. */
void watch_wanted(void *arg);

/* Handles questions and signals until the program ends; returns its wait
 * status. */
int watch_run(struct watch *w);

#endif
