/* SPDX-License-Identifier: MIT
 *
 * A program that says itself what its call tree is: each traced function is
 * handed its depth by its caller and writes it here, so that a jump over its
 * callers or a switch of stacks changes nothing of what is written.
 *
 * One line a call, "PID TID STACK DEPTH NAME", written with one write() to
 * descriptor 9 (made by the test), from any thread or signal handler.
 */
#ifndef EXPECT_H
#define EXPECT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define NOINLINE __attribute__((noinline, noclone))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

QUIET static inline char *expect_number(char *p, long n)
{
	char digits[20];
	int i = 0;

	do {
		digits[i++] = (char)('0' + n % 10);
	} while (n /= 10);
	while (i)
		*p++ = digits[--i];
	*p++ = ' ';
	return p;
}

/* stack: "" for the thread's own, else the name of another stack. */
QUIET static NOINLINE void expect_on(const char *stack, int depth,
				     const char *name)
{
	char line[256], *p = line;

	p = expect_number(p, syscall(SYS_getpid));
	p = expect_number(p, syscall(SYS_gettid));
	p = stpcpy(p, *stack ? stack : "-");
	*p++ = ' ';
	p = expect_number(p, depth);
	p = stpcpy(p, name);
	*p++ = '\n';
	if (write(9, line, (size_t)(p - line)) < 0)
		return;
}

QUIET static inline void expect(int depth, const char *name)
{
	expect_on("", depth, name);
}

#endif
