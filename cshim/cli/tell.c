/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints the command's messages on standard error, as text that is harmless to
 * a terminal.
 */
#include "tell.h"
#include "base/utf8.h"
#include "command.h"

#include <stdarg.h>
#include <stdio.h>

static void tell(const char *name, const char *format, va_list args)
{
	char text[4096], line[sizeof(text) * 4];

	vsnprintf(text, sizeof(text), format, args);
	*utf8_put(line, text, sizeof(line) - 1) = '\0';
	fprintf(stderr, "cstrace%s%s: %s\n", name ? " " : "", name ? name : "",
		line);
}

int usage_error(const struct command *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(c->name, format, args);
	va_end(args);
	return STATUS_USAGE;
}

int failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(NULL, format, args);
	va_end(args);
	return STATUS_FAILED;
}
