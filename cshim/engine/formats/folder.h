/* SPDX-License-Identifier: MIT
 *
 * A saved folder: made beside its place and moved there when it is complete.  A
 * folder that exists there is replaced only if everything in it was written by
 * cstrace: a hidden file says so, which readers of such folders ignore.
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
	struct bytes mark;   /* lists what was written (folder_manifest.h) */
	uint64_t n_too_deep; /* calls that the format had no room for */
};

/* Makes a new, empty folder beside path.  Returns 0, and the caller calls
 * folder_commit() or folder_abandon(); or a negative status, CST_EXISTS if
 * there is something at path that cstrace did not write. */
int folder_open(struct folder *f, const char *path, struct cst_error *err);
/* Moves the folder to its path, in place of what cstrace wrote there.  Returns
 * 0, or a negative status, and has then removed the new folder. */
int folder_commit(struct folder *f, struct cst_error *err);
/* Removes the new folder; does nothing for one that has ended. */
void folder_abandon(struct folder *f);

/* A file in the folder, which is written in blocks. */
struct folder_file {
	struct folder *folder;
	int fd; /* negative: none is open */
};

/* Begins a file, whose name no other file of the folder has; *out borrows f.
 * Returns 0, and the caller calls folder_end(), or a negative status. */
int folder_begin(struct folder *f, const char *name, struct folder_file *out,
		 struct cst_error *err);
/* Appends the bytes to the file and empties b.  Returns 0 or a negative
 * status. */
int folder_write(struct folder_file *file, struct bytes *b,
		 struct cst_error *err);
/* Closes the file, if one is open.  Returns 0 or a negative status. */
int folder_end(struct folder_file *file, struct cst_error *err);
/* Writes a file whose complete content is in b, and empties b.  Returns 0 or a
 * negative status. */
int folder_put(struct folder *f, const char *name, struct bytes *b,
	       struct cst_error *err);

#endif
