/* SPDX-License-Identifier: MIT
 *
 * The loops around write() and pread().
 */
#include "base/io.h"
#include "base/error.h"

#include <errno.h>
#include <unistd.h>

int io_write(int fd, const void *data, size_t n)
{
	const char *at = data;

	while (n) {
		ssize_t written = write(fd, at, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return CST_FAILED;
		at += written;
		n -= (size_t)written;
	}
	return 0;
}

int64_t io_read_at(int fd, void *out, size_t n, uint64_t at)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(fd, (char *)out + done, n - done,
				    (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return CST_FAILED;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (int64_t)done;
}
