/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Copies a trace that comes through a pipe into a temporary file, because a
 * trace is read by position.
 */
#include "input.h"
#include "cstrace/engine.h"
#include "tell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A trace is read here and there, so all of it must be there first. */
static int copy_all(int from, FILE *to)
{
	char buf[1 << 16];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (fwrite(buf, 1, (size_t)n, to) != (size_t)n)
			return CST_FAILED;
	return n < 0 || fflush(to) ? CST_FAILED : 0;
}

/* A file that nobody else knows, with all that comes from there; or negative.
 */
static int kept_copy(int from)
{
	FILE *f = tmpfile();

	return f && copy_all(from, f) == 0 ? fileno(f) : -1;
}

static const char *standard_input(void)
{
	struct stat st;
	int fd;

	if (isatty(STDIN_FILENO)) {
		failure("a trace is no text to type: cstrace ... - <FILE.cst");
		return NULL;
	}
	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
		return "/dev/stdin";
	fd = kept_copy(STDIN_FILENO);
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0) {
		failure("cannot read standard input: %s", strerror(errno));
		return NULL;
	}
	return "/dev/stdin";
}

/* A shell's <(command), which is open already.  A named pipe is not taken: who
 * opens one may wait for ever. */
static const char *pipe_path(const char *path)
{
	static char names[2][32]; /* diff takes two */
	static unsigned n;
	char *name = names[n++ % 2];
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int fd = from < 0 ? -1 : kept_copy(from);

	if (fd < 0) {
		failure("cannot read '%s': %s", path, strerror(errno));
		name = NULL;
	} else {
		snprintf(name, sizeof(names[0]), "/dev/fd/%d", fd);
	}
	if (from >= 0)
		close(from);
	return name;
}

const char *input_path(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return standard_input();
	if (!strncmp(path, "/dev/fd/", 8) && stat(path, &st) == 0 &&
	    S_ISFIFO(st.st_mode))
		return pipe_path(path);
	return path;
}
