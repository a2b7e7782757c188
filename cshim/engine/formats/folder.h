/* SPDX-License-Identifier: MIT
 *
 * A saved folder: made beside its place and moved there when it is whole.
 * One that stands there is replaced only if all in it was written by us: a
 * hidden file tells, which readers of such folders do not look at.
 */
#ifndef ENGINE_FOLDER_H
#define ENGINE_FOLDER_H

#include "base/bytes.h"
#include "base/error.h"

enum { FOLDER_PATH = 4352 };

struct folder {
	char path[FOLDER_PATH]; /* without slashes at its end */
	char temp[FOLDER_PATH];
	int dir;	     /* descriptor of temp; negative: ended */
	struct bytes mark;   /* tells what was written */
	uint64_t n_too_deep; /* calls that the format had no room for */
};

/* A new, empty folder beside path. */
int folder_open(struct folder *f, const char *path, struct cst_error *err);
/* Put it into its place; or remove it. */
int folder_commit(struct folder *f, struct cst_error *err);
void folder_abandon(struct folder *f);

/* A file in the folder, written in blocks; one at a time. */
struct folder_file {
	struct folder *folder;
	int fd; /* negative: none is open */
};

/* name is one that no other file of the folder has. */
int folder_begin(struct folder *f, const char *name, struct folder_file *out,
		 struct cst_error *err);
/* Append the bytes, which are then empty. */
int folder_write(struct folder_file *file, struct bytes *b,
		 struct cst_error *err);
/* None is open any more. */
int folder_end(struct folder_file *file, struct cst_error *err);
/* A file that is whole in memory; the bytes are then empty. */
int folder_put(struct folder *f, const char *name, struct bytes *b,
	       struct cst_error *err);

#endif
