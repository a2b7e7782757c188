/* SPDX-License-Identifier: MIT
 *
 * One read() each: the kernel makes such a text anew for every one.
 */
#include "base/task_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int task_file_read(uint32_t pid, uint32_t tid, const char *name, char *out,
		   size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	out[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, out, size - 1);
	close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The last of the four: the real one, the effective, the saved, that for
 * files. */
static int read_id(const char *status, const char *name, unsigned *out)
{
	const char *at = strstr(status, name);

	return at && sscanf(at + strlen(name), "%*u %*u %*u %u", out) == 1;
}

int task_owner(uint32_t pid, uid_t *user, gid_t *group)
{
	char status[4096];

	return task_file_read(pid, pid, "status", status, sizeof(status)) &&
	       read_id(status, "\nUid:", user) &&
	       read_id(status, "\nGid:", group);
}

int task_is_others(uint32_t pid)
{
	uid_t user;
	gid_t group;

	return task_owner(pid, &user, &group) && user != geteuid();
}
