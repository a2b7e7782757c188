/* SPDX-License-Identifier: MIT
 *
 * Output files that get their name only when they are complete, and the flag by
 * which the user interrupts long work.
 */
#ifndef ENGINE_OUTFILE_H
#define ENGINE_OUTFILE_H

#include "base/error.h"

/* outfile_begin() clears the flag that cst_interrupt() sets;
 * outfile_is_interrupted() returns whether it was set since.  Long loops ask it
 * and then fail with CST_INTERRUPTED. */
void outfile_begin(void);
int outfile_is_interrupted(void);

struct outfile {
	int fd;
	int error; /* errno of the write that failed */
	char temp[4352];
	const char *path;
};

/* Creates a temporary file beside path, which is borrowed until the file is
 * committed or abandoned.  Returns 0, or CST_FAILED if it cannot, or if path
 * exists and is no regular file. */
int outfile_open(struct outfile *f, const char *path, struct cst_error *err);
/* Writes size bytes at text; arg is the outfile, so that this is a
 * cst_write_fn.  Returns 0, or CST_FAILED with the errno in f->error. */
int outfile_write(void *arg, const char *text, uint64_t size);
/* Closes the file and gives it its name, in place of an older file.  Returns 0,
 * or CST_FAILED after the file was removed. */
int outfile_commit(struct outfile *f, struct cst_error *err);

/* Closes and removes the file, if it is not committed. */
void outfile_abandon(struct outfile *f);

#endif
