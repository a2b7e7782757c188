/* SPDX-License-Identifier: MIT
 *
 * Puts the reasons of failures into words, and has the guards that release
 * memory and files at the end of a scope.
 */
#include "base/error.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names of files may be of others, and hold anything. */
static void put_line(struct cst_error *err, const char *format, va_list args)
{
	char text[sizeof(err->text)];

	vsnprintf(text, sizeof(text), format, args);
	*utf8_put(err->text, text, sizeof(err->text) - 1) = '\0';
}

int cst_fail(enum cst_status status, struct cst_error *err, const char *format,
	     ...)
{
	if (err) {
		va_list args;

		va_start(args, format);
		put_line(err, format, args);
		va_end(args);
	}
	return status;
}

int cst_fail_sys(struct cst_error *err, const char *format, ...)
{
	int saved = errno;

	if (err) {
		va_list args;
		size_t used;

		va_start(args, format);
		put_line(err, format, args);
		va_end(args);
		used = strlen(err->text);
		snprintf(err->text + used, sizeof(err->text) - used, ": %s",
			 strerror(saved));
	}
	return CST_FAILED;
}

int cst_fail_memory(struct cst_error *err)
{
	return cst_fail(CST_MEMORY, err, "out of memory");
}

void guard_free(void *p)
{
	free(*(void **)p);
}

void guard_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
