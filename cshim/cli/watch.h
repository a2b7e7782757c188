/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `cstrace record` does while the program runs: it answers the recorder's
 * questions, passes signals on, and waits for the end.
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
	int on_signal; /* this signal calls save(arg); 0: none does */
	void (*save)(void *arg);
	void *arg;
	int plans; /* when it can be read, plan(plans_arg) is called; or -1 */
	void (*plan)(void *plans_arg);
	void *plans_arg;
	/* private */
	int signals, wanted; /* descriptors */
	uint64_t start_ns;
	uint8_t has_progress, is_quiet;
};

/* Prepares w, whose descriptors are -1 and on_signal is set, before there are
 * threads.  Sets *blocked to the signals that watch_run() handles, which the
 * caller blocks.  Returns an exit code; a failure was reported.  Close w in any
 * case. */
int watch_open(struct watch *w, sigset_t *blocked);
/* Closes the descriptors. */
void watch_close(struct watch *w);

/* Wakes watch_run(): a cst_callbacks.wanted whose arg is the watch. */
void watch_wanted(void *arg);

/* Handles questions and signals until process w->pid ends; returns its wait
 * status. */
int watch_run(struct watch *w);

#endif
