/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input.h"
#include "command.h"

#include <errno.h>
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
			return -1;
	return n < 0 || fflush(to) ? -1 : 0;
}

const char *input_path(const char *path)
{
	struct stat st;
	FILE *f;

	if (strcmp(path, "-") != 0)
		return path;
	if (isatty(STDIN_FILENO)) {
		failure("a trace is no text to type: cstrace ... - <FILE.cst");
		return NULL;
	}
	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
		return "/dev/stdin";
	f = tmpfile();
	if (!f || copy_all(STDIN_FILENO, f) < 0 ||
	    dup2(fileno(f), STDIN_FILENO) < 0) {
		failure("cannot read standard input: %s", strerror(errno));
		return NULL;
	}
	return "/dev/stdin";
}
