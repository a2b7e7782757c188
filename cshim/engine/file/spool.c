/* SPDX-License-Identifier: MIT
 *
 * Opens the trace file under its name, in the cache folder, or without a name,
 * and writes complete blocks to it; a block that is torn by a failing write is
 * cut off.
 */
#include "file/spool.h"
#include "base/io_count.h"
#include "file/block.h"
#include "file/cache_file.h"
#include "file/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE_SIZE = 256 << 10 };

/* "-o" is easily followed by the wrong word: the program, a source file. */
int spool_check(const char *path, struct cst_error *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	if (!S_ISREG(st.st_mode))
		return cst_fail(CST_FAILED, err,
				"cannot write '%.300s': not a regular file",
				path);
	return cst_may_replace(path, "cst", err);
}

/* Never truncate what somebody may have loaded: a new file takes its name. */
static int open_named(const char *path, struct cst_error *err)
{
	int fd, status = spool_check(path, err);

	if (status < 0)
		return status;
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0666);
	return fd < 0 ? cst_fail_sys(err, "cannot write '%.300s'", path) : fd;
}

static int open_unnamed(const char *dir, struct cst_error *err)
{
	char name[4096];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (snprintf(name, sizeof(name), "%s/cstrace-XXXXXX", dir) >=
	    (int)sizeof(name)) {
		errno = ENAMETOOLONG;
		return cst_fail_sys(err, "cannot write in '%.300s'", dir);
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return cst_fail_sys(err, "cannot write in '%.300s'", dir);
	unlink(name);
	return fd;
}

static int open_any(struct spool *s, const char *path, const char *dir,
		    const char *cache_name, struct cst_error *err)
{
	int fd = -1;

	if (path && *path)
		return open_named(path, err);
	if (dir && *dir && cache_name && *cache_name)
		fd = cache_file_open(dir, cache_name, &s->cache_path);
	if (fd >= 0)
		return fd;
	return open_unnamed(dir && *dir ? dir : "/var/tmp", err);
}

int spool_open(struct spool *s, const char *path, const char *dir,
	       const char *cache_name, struct cst_error *err)
{
	uint8_t head[BLOCK_FILE_HEAD] = BLOCK_FILE_MAGIC;
	int fd;

	*s = (struct spool){.fd = -1};
	fd = open_any(s, path, dir, cache_name, err);
	if (fd < 0)
		return fd;
	s->fd = fd;
	s->is_named = (path && *path) || s->cache_path;
	put_u32(head + 8, BLOCK_FORMAT);
	bytes_put(&s->pending, head, sizeof(head));
	s->size = sizeof(head);
	return 0;
}

int spool_open_flight(struct spool *s, const char *path, const char *dir,
		      uint64_t limit_bytes, struct cst_error *err)
{
	int status = path && *path ? spool_check(path, err) : 0;

	*s = (struct spool){.fd = -1, .written = 1};
	if (status < 0)
		return status;
	return flight_new(limit_bytes, path, dir && *dir ? dir : "/var/tmp",
			  &s->flight, err);
}

void spool_release(struct spool *s)
{
	flight_free(s->flight);
	s->flight = NULL;
	cache_file_remove(take(s->cache_path));
	guard_close(&s->fd);
	bytes_release(&s->pending);
	s->fd = -1;
}

/* How many of the first n pending bytes are whole blocks. */
static uint64_t whole_blocks(const struct spool *s, uint64_t n)
{
	const uint8_t *p = s->pending.data;
	uint64_t end = s->written ? 0 : BLOCK_FILE_HEAD, next = end;

	while (next <= n) {
		end = next;
		if (n - end < BLOCK_HEAD)
			break;
		next += BLOCK_HEAD + (uint64_t)get_u32(p + end + 8) +
			get_u32(p + end + 12);
	}
	return end <= n ? end : 0;
}

/* n of the pending bytes have been written. */
static void spool_fail(struct spool *s, int code, uint64_t n)
{
	s->failed_errno = code ? code : EIO;
	s->written += whole_blocks(s, n);
	s->pending.len = 0;
	s->size = s->written;
	/* Without the torn block the file ends whole; with it, it only looks
	 * cut short. */
	if (ftruncate(s->fd, (off_t)s->written) < 0)
		return;
}

int spool_flush(struct spool *s)
{
	const uint8_t *p = s->pending.data;
	uint64_t at = s->written;
	size_t left = s->pending.len;

	if (s->failed_errno)
		return CST_FAILED;
	if (s->flight)
		return 0;
	while (left) {
		ssize_t n = pwrite(s->fd, p, left, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			spool_fail(s, n < 0 ? errno : ENOSPC, at - s->written);
			return CST_FAILED;
		}
		io_note_own((size_t)n);
		p += n;
		at += (uint64_t)n;
		left -= (size_t)n;
	}
	s->written = at;
	s->pending.len = 0;
	return 0;
}

void spool_put(struct spool *s, enum block_kind kind, const struct bytes *info,
	       const struct bytes *data)
{
	struct block_head head = {.kind = kind,
				  .info_size = (uint32_t)info->len,
				  .data_size = (uint32_t)data->len};
	uint8_t text[BLOCK_HEAD];

	if (s->failed_errno)
		return;
	if (s->flight) {
		if (flight_put(s->flight, kind, info, data) < 0)
			s->failed_errno = ENOMEM;
		s->size = flight_size(s->flight);
		return;
	}
	head.info_crc = block_crc(info->data, info->len);
	block_head_put(&head, text);
	bytes_put(&s->pending, text, sizeof(text));
	bytes_put(&s->pending, info->data, info->len);
	bytes_put(&s->pending, data->data, data->len);
	if (s->pending.failed || info->failed || data->failed) {
		spool_fail(s, ENOMEM, 0);
		return;
	}
	s->size = s->written + s->pending.len;
	if (s->pending.len >= WRITE_SIZE)
		spool_flush(s);
}

int spool_why(const struct spool *s, uint64_t limit_bytes,
	      struct cst_error *err)
{
	static const char *const units[] = {"bytes", "KiB", "MiB"};
	int unit = (limit_bytes >= 1 << 10) + (limit_bytes >= 1 << 20);

	if (s->failed_errno)
		return cst_fail(s->failed_errno == ENOMEM ? CST_MEMORY
							  : CST_FAILED,
				err, "cannot write the trace file: %s",
				strerror(s->failed_errno));
	return cst_fail(
		CST_FAILED, err, "the trace file reached its limit of %.*f %s",
		unit == 2, (double)limit_bytes / (1 << 10 * unit), units[unit]);
}
