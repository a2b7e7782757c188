/* SPDX-License-Identifier: MIT
 *
 * Makes files in the cache folder that are locked before they have a name, so
 * that a file that nobody has locked is always an orphan.
 */
#include "file/cache_file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum { MOST_OF_A_NAME = 99 };

/* A file that is not seen yet; from: what it can be linked from.  Not all file
 * systems have files without a name. */
static int open_unseen(int dir, char from[NAME_MAX], int *has_name)
{
	int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	*has_name = fd < 0;
	if (fd >= 0) {
		snprintf(from, NAME_MAX, "/proc/self/fd/%d", fd);
		return fd;
	}
	snprintf(from, NAME_MAX, "new-%d", (int)getpid());
	return openat(dir, from,
		      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int link_as(int dir, const char *from, const char *name,
		   char to[NAME_MAX])
{
	for (int i = 1; i <= MOST_OF_A_NAME; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof(number), ".%d", i);
		if (snprintf(to, NAME_MAX, "%s%s.cst", name, number) >=
		    NAME_MAX)
			return -1;
		if (linkat(dir, from, dir, to, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/* The file, locked, and its name in the folder; or negative. */
static int open_in(int dir, const char *name, char to[NAME_MAX])
{
	char from[NAME_MAX];
	int has_name, is_linked;
	int fd = open_unseen(dir, from, &has_name);

	if (fd < 0)
		return fd;
	is_linked = flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		    link_as(dir, from, name, to) == 0;
	if (has_name)
		unlinkat(dir, from, 0);
	if (!is_linked)
		guard_close(&fd);
	return is_linked ? fd : -1;
}

int cache_file_open(const char *dir, const char *name, char **path)
{
	auto_close int folder =
		open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char to[NAME_MAX];
	int fd = folder < 0 ? -1 : open_in(folder, name, to);

	if (fd >= 0 && asprintf(path, "%s/%s", dir, to) < 0) {
		unlinkat(folder, to, 0);
		guard_close(&fd);
		return -1;
	}
	return fd;
}

void cache_file_remove(char *path)
{
	if (path)
		unlink(path);
	free(path);
}
