/* SPDX-License-Identifier: MIT
 *
 * Writes rows to a file, terminal or callback.  A terminal is opened again
 * without blocking, so that it can refuse rows, and gdb's windows are asked
 * whether they are busy.
 */
#include "recorder/outlet.h"
#include "base/io_count.h"

#include "area/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ROW_MS = 100 };

void outlet_init(struct outlet *o)
{
	*o = (struct outlet){.fd = -1, .own_fd = -1};
}

void outlet_release(struct outlet *o)
{
	if (o->own_fd >= 0)
		close(o->own_fd);
	bytes_release(&o->rest);
	outlet_init(o);
}

/* O_NONBLOCK belongs to what was opened, which gdb, the program and the shell
 * share: so the terminal is opened once more.  -1: it may not be, if its owner
 * is another user. */
static int open_again(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void outlet_turn(struct outlet *o, enum cst_sink sink, int fd)
{
	if (o->own_fd >= 0)
		close(o->own_fd);
	bytes_release(&o->rest);
	o->sink = sink;
	o->fd = fd;
	o->own_fd = -1;
	o->owner = pthread_self();
	o->failed_errno = 0;
	o->is_slow = sink == CST_SINK_CALLBACK ||
		     (sink == CST_SINK_FD && isatty(fd));
	if (o->is_slow && sink == CST_SINK_FD)
		o->own_fd = open_again(fd);
}

static void note_time(struct outlet *o)
{
	__atomic_store_n(&o->written_ns, clock_monotonic_ns(),
			 __ATOMIC_RELAXED);
}

/* 0, or an errno; as below. */
static int write_all(int fd, const char *text, uint64_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n >= 0) {
			io_note_own((size_t)n);
			text += n;
			size -= (uint64_t)n;
		} else if (errno == EAGAIN) {
			struct pollfd p = {.fd = fd, .events = POLLOUT};

			poll(&p, 1, 100);
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

/* Rows go out whole: a pipe takes PIPE_BUF bytes in one piece, and more than
 * that with what the program writes in the middle. */
static int write_rows(int fd, const char *text, uint64_t size)
{
	int failed = 0;

	while (size > PIPE_BUF && !failed) {
		const char *end = memrchr(text, '\n', PIPE_BUF);
		uint64_t n = end ? (uint64_t)(end - text) + 1 : PIPE_BUF;

		failed = write_all(fd, text, n);
		text += n;
		size -= n;
	}
	return failed ? failed : write_all(fd, text, size);
}

/* Whether the terminal takes something before the patience ends.  Signals do
 * not end it: at a stop gdb gets one for each thread that stands still. */
static int has_room(int fd, int patience_ms)
{
	uint64_t end = clock_monotonic_ns() + (uint64_t)patience_ms * 1000000;
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	for (;;) {
		int n = poll(&p, 1, patience_ms);
		uint64_t now;

		if (n >= 0 || errno != EINTR)
			return n > 0;
		if (patience_ms <= 0) /* not at all, or for ever */
			continue;
		now = clock_monotonic_ns();
		patience_ms = now < end ? (int)((end - now) / 1000000) : 0;
		if (!patience_ms)
			return 0;
	}
}

/* Whether the first `done` bytes of the rest end within a row. */
static int is_in_row(const struct outlet *o, uint64_t done)
{
	return done && o->rest.data[done - 1] != '\n';
}

static uint64_t row_end(const struct outlet *o, uint64_t done)
{
	const uint8_t *end =
		memchr(o->rest.data + done, '\n', o->rest.len - done);

	return end ? (uint64_t)(end - o->rest.data) + 1 : o->rest.len;
}

/* Write of the rest what the terminal takes.  Without one of our own, ask
 * before each piece whether it takes anything.  A row that was begun is waited
 * for: what gdb or the program prints next would stand in its middle. */
static void write_rest(struct outlet *o, int patience_ms)
{
	int fd = o->own_fd >= 0 ? o->own_fd : o->fd;
	int has_been_full = o->own_fd < 0;
	uint64_t done = 0, end = o->rest.len;

	while (done < end) {
		uint64_t left = end - done;
		ssize_t n;

		if (has_been_full && !has_room(fd, patience_ms)) {
			if (!is_in_row(o, done) || !has_room(fd, ROW_MS))
				break;
			end = row_end(o, done);
			left = end - done;
		}
		if (o->own_fd < 0 && left > 256)
			left = 256;
		n = write(fd, o->rest.data + done, left);
		has_been_full = o->own_fd < 0 || (n < 0 && errno == EAGAIN);
		if (n > 0) {
			io_note_own((size_t)n);
			done += (uint64_t)n;
		} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
			o->failed_errno = errno;
			done = end = o->rest.len;
		}
	}
	o->rest.len -= done;
	if (done)
		note_time(o);
	if (done && o->rest.len)
		memmove(o->rest.data, o->rest.data + done, o->rest.len);
}

int outlet_is_busy(const struct outlet *o)
{
	return o->sink == CST_SINK_CALLBACK && o->busy &&
	       __atomic_load_n(o->busy, __ATOMIC_ACQUIRE) &&
	       !pthread_equal(o->owner, pthread_self());
}

int outlet_is_ready(struct outlet *o, int patience_ms)
{
	if (!o->is_slow)
		return 1;
	if (o->sink == CST_SINK_CALLBACK)
		return !outlet_is_busy(o);
	write_rest(o, patience_ms);
	return !o->rest.len;
}

void outlet_put(struct outlet *o, const char *text, uint64_t size,
		int patience_ms)
{
	int failed = 0;

	if (!size)
		return;
	if (o->sink == CST_SINK_CALLBACK) {
		o->text(o->arg, text, size);
	} else if (o->sink == CST_SINK_FD && !o->is_slow) {
		failed = write_rows(o->fd, text, size);
		note_time(o);
	} else if (o->sink == CST_SINK_FD) {
		bytes_put(&o->rest, text, size);
		write_rest(o, patience_ms);
	}
	if (failed)
		o->failed_errno = failed;
}

unsigned outlet_width(const struct outlet *o)
{
	struct winsize size;

	if (o->sink != CST_SINK_FD || ioctl(o->fd, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}
