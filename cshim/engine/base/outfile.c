/* SPDX-License-Identifier: MIT
 *
 * Writes a file beside its place and renames it at the end, so that nobody ever
 * reads half a file; and keeps the flag of cst_interrupt().
 */
#include "base/outfile.h"
#include "base/io.h"
#include "base/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int is_interrupted;

void cst_interrupt(void)
{
	atomic_store(&is_interrupted, 1);
}

void outfile_begin(void)
{
	atomic_store(&is_interrupted, 0);
	progress_begin(0);
}

int outfile_is_interrupted(void)
{
	return atomic_load_explicit(&is_interrupted, memory_order_relaxed);
}

/* The folder must be path's own: a rename does not cross file systems. */
static int open_beside(struct outfile *f, const char *path)
{
	static atomic_uint count;
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;

	for (int i = 0; i < 100; i++) {
		unsigned n = atomic_fetch_add(&count, 1);
		int len = snprintf(f->temp, sizeof(f->temp),
				   "%.*s.cstrace-%d-%u.tmp", dir, path,
				   (int)getpid(), n);

		if (len < 0 || (size_t)len >= sizeof(f->temp)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		f->fd = open(f->temp,
			     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
				     O_CLOEXEC,
			     0666);
		if (f->fd >= 0 || errno != EEXIST)
			return f->fd;
	}
	return -1;
}

int outfile_open(struct outfile *f, const char *path, struct cst_error *err)
{
	struct stat st;

	f->path = path;
	f->fd = -1;
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return cst_fail(CST_FAILED, err, "cannot write '%.300s': %s",
				path,
				S_ISDIR(st.st_mode) ? "it is a folder"
						    : "not a regular file");
	if (open_beside(f, path) < 0)
		return cst_fail_sys(err, "cannot write '%.300s'", path);
	return 0;
}

int outfile_write(void *arg, const char *text, uint64_t size)
{
	struct outfile *f = arg;

	if (!io_write(f->fd, text, size))
		return 0;
	f->error = errno;
	return CST_FAILED;
}

int outfile_commit(struct outfile *f, struct cst_error *err)
{
	int failed = close(f->fd);

	f->fd = -1;
	if (!failed && !rename(f->temp, f->path))
		return 0;
	cst_fail_sys(err, "cannot write '%.300s'", f->path);
	unlink(f->temp);
	return CST_FAILED;
}

void outfile_abandon(struct outfile *f)
{
	if (f->fd < 0)
		return;
	close(f->fd);
	f->fd = -1;
	unlink(f->temp);
}
