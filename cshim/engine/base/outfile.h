/* SPDX-License-Identifier: MIT
 *
 * Where finished bytes go: a callback, or a file that takes its name only
 * when it is whole.
 */
#ifndef ENGINE_OUTFILE_H
#define ENGINE_OUTFILE_H

#include "base/error.h"

/* cst_interrupt() was called since sink_begin(). */
void sink_begin(void);
int sink_is_interrupted(void);

struct sink_file {
	int fd;
	int error; /* errno of the write that failed */
	char temp[4352];
	const char *path;
};

/* A new file beside path; path is borrowed. */
int sink_open(struct sink_file *f, const char *path, struct cst_error *err);
/* A cst_write_fn; arg is the sink_file.  Negative: f->error tells. */
int sink_write(void *arg, const char *text, uint64_t size);
/* Give the file its name; or remove it. */
int sink_commit(struct sink_file *f, struct cst_error *err);
void sink_abandon(struct sink_file *f);

#endif
