/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Starts a program with the shim in it.
 */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include <signal.h>
#include <sys/types.h>

struct launch {
	char *program;		    /* the file that PATH leads to */
	char *preload;		    /* LD_PRELOAD's value */
	void (*on_large_file)(int); /* SIGXFSZ as it was set: for the program */
	int is_output_ours;	    /* the program's goes to standard error */
	const char *samples;	    /* the path for the sampler; NULL: none */
	const char *plans;	    /* the folder of plans; NULL: none */
	char *link; /* the shim's other name, without blanks; or NULL */
	int lock;   /* of the folder that the link is in */
};

/* Finds the program and the shim, and the sampler if it is wanted, and has this
 * process ignore SIGXFSZ.  Returns an exit code; a failure was reported.
 * Release l in any case. */
int launch_prepare(struct launch *l, const char *name, int with_sampler);
/* Frees what belongs to l, once the program has ended. */
void launch_release(struct launch *l);

/* Starts the program with the arguments argv; area is the path of the area, for
 * the shim.  The signals in blocked are blocked in this process from here on,
 * not in the program.  Returns 0, with the process in *pid, once the program
 * runs; or an exit code; a failure was reported. */
int launch_start(const struct launch *l, char **argv, const char *area,
		 const sigset_t *blocked, pid_t *pid);

/* Becomes the program, which has the shim but no reader.  Returns only on
 * failure, which was reported, with an exit code. */
int launch_become(const struct launch *l, char **argv);

#endif
