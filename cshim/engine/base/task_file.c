/* SPDX-License-Identifier: MIT
 *
 * One read() each: the kernel makes such a text anew for every one.
 */
#include "base/task_file.h"

#include <fcntl.h>
#include <stdio.h>
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
