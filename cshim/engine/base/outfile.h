/* SPDX-License-Identifier: MIT
 *
 * Where finished bytes go: a callback, or a file that takes its name only
 * when it is whole.
 */
#ifndef ENGINE_OUTFILE_H
#define ENGINE_OUTFILE_H

#include "base/error.h"

/* cst_interrupt() was called since outfile_begin(). */
void outfile_begin(void);
int outfile_is_interrupted(void);

struct outfile {
	int fd;
	int error; /* errno of the write that failed */
	char temp[4352];
	const char *path;
};

/* A new file beside path; path is borrowed. */
int outfile_open(struct outfile *f, const char *path, struct cst_error *err);
/* A cst_write_fn; arg is the outfile.  Negative: f->error tells. */
int outfile_write(void *arg, const char *text, uint64_t size);
/* Give the file its name; or remove it. */
int outfile_commit(struct outfile *f, struct cst_error *err);
void outfile_abandon(struct outfile *f);

#endif
