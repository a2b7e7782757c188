/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Makes a recorder as the user's options say, for each command that records.
 */
#ifndef CLI_RECORDER_SETUP_H
#define CLI_RECORDER_SETUP_H

#include "bfd_names.h"
#include "cstrace/control.h"
#include "cstrace/engine.h"
#include "cstrace/samples.h"
#include "options.h"

/* What the options do not say. */
struct recorder_setup {
	const char *spool;    /* the trace to write, or "" for one to forget */
	uint64_t limit_bytes; /* of the trace; 0: none */
	enum cst_mode mode;
	uint32_t pool_chunks;
	const char *command, *module; /* what is recorded */
	struct bfd_names *naming;     /* borrowed: answers its questions */
	void (*wanted)(void *arg);    /* as in struct cst_callbacks */
	void *arg;
	enum cst_sample_source source; /* of samples, if the user wants any */
};

/* Opens the recorder: a file at `spool` is replaced if the user gave --force,
 * unless it is no regular one.  Its messages go to standard error.  Returns 0,
 * or a negative status; the caller closes *out in any case. */
int recorder_set_up(const struct options *o, const struct recorder_setup *setup,
		    struct cst_recorder **out, struct cst_error *err);

/* Prints a message of a recorder, or of its names, on standard error; arg is
 * not used. */
void recorder_tell(void *arg, const char *text);

#endif
