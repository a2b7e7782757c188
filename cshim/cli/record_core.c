/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * This process becomes the program.  A helper, which is nobody's child by then,
 * finds out what the program's hooks are to copy when the first of them is
 * called, and ends: from then on nothing of ours but the shim is there.
 */
#include "record_core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tell.h"

/* What the helper reports: where the memory is, or why there is none. */
struct report {
	int status;
	char path[64];
	struct cst_error err;
};

/* Nothing of the user's stays open for our sake; `fd` becomes 3. */
static void let_go(int fd)
{
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	dup2(fd, 3);
	close_range(4, ~0u, 0);
}

static _Noreturn void help(uint64_t bytes, int fd, uint32_t pid)
{
	struct cst_flight_offer *f = NULL;
	struct report report = {0};
	ssize_t n;

	let_go(fd);
	setsid();
	report.status = cst_flight_offer(bytes, &f, &report.err);
	if (report.status == 0)
		snprintf(report.path, sizeof(report.path), "%s",
			 cst_flight_offer_path(f));
	n = write(3, &report, sizeof(report));
	close(3);
	if (report.status == 0 && n == sizeof(report))
		cst_flight_offer_answer(f, pid);
	_exit(0);
}

/* Returns an exit code; a failure was reported. */
static int start_helper(uint64_t bytes, struct report *report)
{
	uint32_t pid = (uint32_t)getpid();
	int ends[2], status;
	ssize_t n = -1;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return failure("cannot start a helper: %s", strerror(errno));
	child = fork();
	if (child == 0) {
		if (fork() == 0)
			help(bytes, ends[1], pid);
		_exit(0);
	}
	close(ends[1]);
	if (child > 0) {
		waitpid(child, &status, 0);
		n = read(ends[0], report, sizeof(*report));
	}
	close(ends[0]);
	if (n != sizeof(*report))
		return failure("cannot start a helper");
	return report->status ? failure("%s", report->err.text) : STATUS_OK;
}

int record_core(const struct launch *l, const struct options *o)
{
	struct report report = {0};
	int status = start_helper(o->flight_bytes, &report);
	char size[32];

	if (status)
		return status;
	snprintf(size, sizeof(size), "%lluK",
		 (unsigned long long)o->flight_bytes >> 10);
	setenv("CSTRACE_FLIGHT", size, 1);
	setenv("CSTRACE_AHEAD", report.path, 1);
	return launch_become(l, o->names);
}
