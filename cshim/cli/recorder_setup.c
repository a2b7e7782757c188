/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the options that several commands have mean for a recorder.
 */
#include "recorder_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void recorder_tell(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "cstrace: %s\n", text);
}

/* The user gave --force.  What is no regular file stays, and is refused. */
static void remove_file(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
}

int recorder_set_up(const struct options *o, const struct recorder_setup *setup,
		    struct cst_recorder **out, struct cst_error *err)
{
	struct cst_recorder_options options = {
		.spool = setup->spool,
		.spool_dir = getenv("TMPDIR"),
		.limit_bytes = setup->limit_bytes,
		.flight_bytes = o->flight_bytes,
		.choice = &o->choice,
		.keep_depth = o->keep_depth,
		.keep_bytes = o->keep_bytes,
		.keep_ns = o->keep_ns,
		.mode = setup->mode,
		.pool_chunks = setup->pool_chunks,
		.command = setup->command,
		.module = setup->module,
	};
	struct cst_callbacks callbacks = {
		.wanted = setup->wanted,
		.message = recorder_tell,
		.arg = setup->arg,
	};
	int status;

	cst_folder_sweep();
	if (o->is_forced && *setup->spool)
		remove_file(setup->spool);
	status = cst_recorder_open(&options, &callbacks, out, err);
	if (status < 0)
		return status;
	bfd_names_attach(setup->naming, *out);
	if (!o->sample_hz)
		return 0;
	/* The tracer that stops threads knows itself when to end. */
	return cst_recorder_sample(
		*out, o->sample_hz,
		o->is_wall ? CST_SAMPLE_WALL : CST_SAMPLE_CPU, setup->source,
		setup->source == CST_SAMPLE_STOPS ? 0 : o->sample_ns, err);
}
