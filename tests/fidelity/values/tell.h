/* SPDX-License-Identifier: MIT
 *
 * A program of this folder writes to descriptor 9 what its calls were handed
 * and what they answered, as a row of cstrace's has it: a line for each call.
 */
#ifndef TELL_H
#define TELL_H

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function, noinline))
/* A function of its own, that others do not look into. */
#define OWN __attribute__((noinline))

UNTRACED static void tell(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

UNTRACED static void tell(const char *format, ...)
{
	char line[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	line[n++] = '\n';
	if (write(9, line, (size_t)n) != n)
		_exit(9);
}

#endif
