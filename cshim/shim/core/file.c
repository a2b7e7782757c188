/* SPDX-License-Identifier: MIT
 *
 * Makes the file that holds the area where there is no reader, or joins the one
 * that another process of the program has made; a file that nobody uses any
 * more is replaced.  Several processes may do this at once.
 */
#include <errno.h>
#include "core/file.h"
#include "core/area.h"
#include "core/control.h"
#include "kernel/syscall.h"

/* The process that makes the file may have to wait for a processor. */
enum { MODE = 0644, TRIES = 100, TRIES_FOR_MAKER = 3000, LOOK_MS = 1 };

/* A process that writes into the file is still there. */
static int is_alive(int fd, const struct cst_area *head)
{
	for (uint32_t i = 0; i < head->n_processes && i < CST_MAX_PROCESSES;
	     i++) {
		struct cst_process p;
		long at = (long)(CST_AT_PROCESSES + i * sizeof(p));

		if (sys_pread(fd, &p, sizeof(p), at) != sizeof(p))
			return 0;
		if (p.pid && sys_kill(p.pid, 0) != -ESRCH)
			return 1;
	}
	return 0;
}

static int is_area(int fd, struct cst_area *head)
{
	return sys_pread(fd, head, sizeof(*head), 0) == sizeof(*head) &&
	       head->magic == CST_AREA_MAGIC;
}

int file_write_head(int fd, uint32_t flight_chunks, int is_read)
{
	struct cst_area head = {
		.layout = CST_LAYOUT,
		.size = CST_AREA_SIZE,
		.n_processes = 1,
		.n_sites = CST_FIRST_SITE,
		.has_mappings = 1,
		.is_file = 1,
		.flight_chunks = flight_chunks,
		.flight_pid = is_read ? (uint32_t)sys_getpid() : 0,
	};

	/* Or who comes next would find nobody alive in it. */
	struct cst_process self = {.is_expected = 1, .pid = sys_getpid()};

	/* The kernel kills who makes a file larger than this. */
	if (sys_limit(RLIMIT_FSIZE) < CST_AREA_SIZE)
		return -EFBIG;
	area_moment(&head.first_ticks, &head.first_ns);
	head.first_wall_ns = sys_clock_ns(CLOCK_REALTIME);
	/* The magic comes last: with it the file is there for others. */
	if (sys_ftruncate(fd, (long)CST_AREA_SIZE) < 0 ||
	    sys_pwrite(fd, &self, sizeof(self), CST_AT_PROCESSES) !=
		    sizeof(self) ||
	    sys_pwrite(fd, &head, sizeof(head), 0) != sizeof(head))
		return -ENOSPC;
	head.magic = CST_AREA_MAGIC;
	return sys_pwrite(fd, &head.magic, sizeof(head.magic), 0) ==
			       sizeof(head.magic)
		       ? 0
		       : -ENOSPC;
}

static int file_make(const char *path)
{
	int fd = sys_open_mode(
		path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
	int error;

	if (fd < 0)
		return fd;
	error = file_write_head(fd, 0, 0);
	if (!error)
		return fd;
	sys_unlink(path);
	sys_close(fd);
	return error;
}

/* Removes a file that no process uses any more, unless another one does.  The
 * one that does has it locked and clears its magic first, so that this happens
 * only once: what is at the path a moment later is another file. */
static void file_clear(const char *path, int fd, struct cst_area *head)
{
	if (sys_flock(fd, LOCK_EX | LOCK_NB) == -EWOULDBLOCK ||
	    !is_area(fd, head) || is_alive(fd, head))
		return;
	head->magic = 0;
	if (sys_pwrite(fd, &head->magic, sizeof(head->magic), 0) ==
	    sizeof(head->magic))
		sys_unlink(path);
}

/* Empty, or without its magic. */
static int is_unfinished(int fd)
{
	struct cst_area head;
	long n = sys_pread(fd, &head, sizeof(head), 0);

	return n == 0 || (n == sizeof(head) && !head.magic);
}

/* The one that is there.  -EAGAIN: it was in the way and is perhaps gone.
 * -EBUSY: it is being made, or taken away. */
static int file_join(const char *path)
{
	int fd = sys_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
					O_NOCTTY);
	struct cst_area head;
	int status = -EAGAIN;

	if (fd < 0)
		return fd == -ENOENT ? -EAGAIN : fd;
	if (is_area(fd, &head)) {
		if (is_alive(fd, &head))
			return fd;
		file_clear(path, fd, &head);
	} else if (is_unfinished(fd)) {
		status = -EBUSY;
	}
	sys_close(fd);
	return status;
}

int file_open(const char *path)
{
	static uint32_t never;
	int fd = file_make(path), n_left = TRIES_FOR_MAKER;

	while (fd == -EEXIST && n_left > 0) {
		fd = file_join(path);
		if (fd != -EAGAIN && fd != -EBUSY)
			return fd;
		n_left -= fd == -EBUSY ? 1 : TRIES_FOR_MAKER / TRIES;
		fd = file_make(path);
		if (fd == -EEXIST)
			sys_futex_wait(&never, FUTEX_WAIT_PRIVATE, 0, LOOK_MS);
	}
	return fd;
}

uint32_t file_chunk(void)
{
	int64_t index = area_draw(&area->n_chunks, 0, CST_MAX_CHUNKS);

	if (index < 0 || !area_has_chunk((uint32_t)index) ||
	    area_reserve((char *)area_at(CST_AT_CHUNKS) +
				 (uint64_t)index * CST_CHUNK_SIZE,
			 CST_CHUNK_SIZE))
		return 0;
	/* The further apart, the truer is the clock that they tell. */
	area_moment(&area->last_ticks, &area->last_ns);
	return (uint32_t)index + 1;
}

__attribute__((destructor)) static void file_end(void)
{
	if (area && area->is_file && !control_has_ended())
		area_moment(&area->last_ticks, &area->last_ns);
}
