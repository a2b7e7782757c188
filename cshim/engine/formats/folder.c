/* SPDX-License-Identifier: MIT
 *
 * Makes a folder beside its place, writes files into it, and exchanges it for
 * an older one that cstrace wrote.
 */
#include "formats/folder.h"
#include "base/io.h"
#include "formats/folder_manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const struct folder *f, struct cst_error *err)
{
	return cst_fail_sys(err, "cannot write '%.300s'", f->path);
}

/* ---- what stands there --------------------------------------------------- */

/* 0: it is; CST_EXISTS: it is not. */
static int check_ours(const char *path)
{
	auto_close int dir =
		open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return dir < 0 ? CST_EXISTS : manifest_check(dir);
}

/* 1: one of ours; 0: nothing. */
static int look(const struct folder *f, struct cst_error *err)
{
	struct stat st;
	int status;

	if (lstat(f->path, &st) < 0)
		return errno == ENOENT ? 0 : fail(f, err);
	if (!S_ISDIR(st.st_mode))
		return cst_fail(CST_FAILED, err,
				"cannot write '%.300s': it is not a folder",
				f->path);
	status = check_ours(f->path);
	if (status == CST_MEMORY)
		return cst_fail_memory(err);
	if (status < 0)
		return cst_fail(CST_FAILED, err,
				"cannot write '%.300s': the folder is not "
				"cstrace's alone",
				f->path);
	return 1;
}

/* ---- open and close ------------------------------------------------------ */

/* A name beside the path's own: a rename does not cross file systems. */
static int name_beside(const struct folder *f, char *out)
{
	static atomic_uint count;
	const char *slash = strrchr(f->path, '/');
	int parent = slash ? (int)(slash - f->path) + 1 : 0;
	int len = snprintf(out, FOLDER_PATH, "%.*s.cstrace-%d-%u.tmp", parent,
			   f->path, (int)getpid(), atomic_fetch_add(&count, 1));

	if (len >= 0 && len < FOLDER_PATH)
		return 0;
	errno = ENAMETOOLONG;
	return CST_FAILED;
}

static int make_beside(struct folder *f)
{
	for (int i = 0; i < 100; i++) {
		if (name_beside(f, f->temp) < 0)
			return -1;
		if (mkdir(f->temp, 0777) == 0)
			return open(f->temp, O_RDONLY | O_DIRECTORY |
						     O_CLOEXEC | O_NOFOLLOW);
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

static void folder_release(struct folder *f)
{
	if (f->dir >= 0)
		close(f->dir);
	f->dir = -1;
	bytes_release(&f->mark);
}

int folder_open(struct folder *f, const char *path, struct cst_error *err)
{
	size_t len = strlen(path);
	int status;

	f->dir = -1;
	f->mark = (struct bytes){0};
	f->n_too_deep = 0;
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len >= sizeof(f->path)) {
		errno = ENAMETOOLONG;
		return cst_fail_sys(err, "cannot write '%.300s'", path);
	}
	memcpy(f->path, path, len);
	f->path[len] = '\0';
	status = look(f, err);
	if (status < 0)
		return status;
	f->dir = make_beside(f);
	if (f->dir < 0)
		return fail(f, err);
	manifest_begin(&f->mark);
	return 0;
}

void folder_abandon(struct folder *f)
{
	if (f->dir < 0)
		return;
	folder_release(f);
	manifest_remove(f->temp);
}

/* Where two names cannot be exchanged at once: one after the other. */
static int move_aside(struct folder *f)
{
	char aside[FOLDER_PATH];
	int error;

	if (name_beside(f, aside) < 0 || rename(f->path, aside) < 0)
		return CST_FAILED;
	if (rename(f->temp, f->path) == 0) {
		memcpy(f->temp, aside, sizeof(aside));
		return 0;
	}
	error = errno;
	rename(aside, f->path);
	errno = error;
	return CST_FAILED;
}

static int replace(struct folder *f)
{
	if (renameat2(AT_FDCWD, f->temp, AT_FDCWD, f->path, RENAME_EXCHANGE) <
		    0 &&
	    move_aside(f) < 0)
		return CST_FAILED;
	manifest_remove(f->temp);
	return 0;
}

int folder_commit(struct folder *f, struct cst_error *err)
{
	int status = folder_put(f, MARK_NAME, &f->mark, err);
	int is_there = status < 0 ? status : look(f, err);

	if (is_there >= 0 &&
	    (is_there ? replace(f) : rename(f->temp, f->path)) < 0)
		is_there = fail(f, err);
	if (is_there < 0) {
		folder_abandon(f);
		return is_there;
	}
	folder_release(f);
	return 0;
}

/* ---- files --------------------------------------------------------------- */

int folder_begin(struct folder *f, const char *name, struct folder_file *out,
		 struct cst_error *err)
{
	out->folder = f;
	out->fd = openat(f->dir, name,
			 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			 0666);
	if (out->fd < 0)
		return fail(f, err);
	manifest_add(&f->mark, name);
	return 0;
}

int folder_write(struct folder_file *file, struct bytes *b,
		 struct cst_error *err)
{
	if (b->failed)
		return cst_fail_memory(err);
	if (io_write(file->fd, b->data, b->len) < 0)
		return fail(file->folder, err);
	b->len = 0;
	return 0;
}

int folder_end(struct folder_file *file, struct cst_error *err)
{
	int failed = file->fd >= 0 && close(file->fd) < 0;

	file->fd = -1;
	return failed ? fail(file->folder, err) : 0;
}

int folder_put(struct folder *f, const char *name, struct bytes *b,
	       struct cst_error *err)
{
	struct folder_file file;
	struct cst_error ignored;
	int status = folder_begin(f, name, &file, err);

	if (status < 0)
		return status;
	status = folder_write(&file, b, err);
	if (status < 0)
		folder_end(&file, &ignored);
	return status < 0 ? status : folder_end(&file, err);
}
