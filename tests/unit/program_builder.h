/* SPDX-License-Identifier: MIT
 *
 * Builds small libraries and programs while a test runs, in a folder of its
 * own that goes with it.
 */
#ifndef UNIT_PROGRAM_BUILDER_H
#define UNIT_PROGRAM_BUILDER_H

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char builder_dir[64];

/* Run a shell command; %s and the like as in printf. 1: it succeeded. */
__attribute__((format(printf, 1, 2))) static inline int
builder_run(const char *format, ...)
{
	char command[4 * PATH_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command) == 0;
}

static inline int builder_has(const char *compiler)
{
	return builder_run("command -v %s > /dev/null 2>&1", compiler);
}

static inline int builder_open(void **state)
{
	(void)state;
	strcpy(builder_dir, "/tmp/cstrace-test-XXXXXX");
	/* The subjects are the user's programs: nothing of ours in them. */
	unsetenv("LD_PRELOAD");
	return mkdtemp(builder_dir) ? 0 : -1;
}

static inline int builder_close(void **state)
{
	(void)state;
	return builder_run("rm -rf %s", builder_dir) ? 0 : -1;
}

/* Where a file of this name is built. */
static inline const char *builder_path(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", builder_dir, name);
	return path;
}

/* Beside the test's own source. */
static inline const char *builder_source(const char *test, const char *name)
{
	static char path[PATH_MAX];
	const char *slash = strrchr(test, '/');

	snprintf(path, sizeof(path), "%.*s%s",
		 slash ? (int)(slash - test + 1) : 0, test, name);
	return path;
}

static inline int builder_write(const char *name, const char *text)
{
	FILE *f = fopen(builder_path(name), "w");

	if (!f)
		return 0;
	fputs(text, f);
	return fclose(f) == 0;
}

#endif
