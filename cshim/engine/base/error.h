/* SPDX-License-Identifier: MIT
 *
 * Failures, each reported in words once, where its reason is known; and scope
 * guards that release memory and files.
 *
 * The convention, here as in engine.h: a function that can fail and returns an
 * int returns 0 or more on success, and a negative enum cst_status on failure.
 * One that returns an index or a file descriptor returns -1 for "none", and its
 * comment says so; with errno set where the system was asked.  The caller
 * passes a status on as it is.
 */
#ifndef ENGINE_ERROR_H
#define ENGINE_ERROR_H

#include "cstrace/engine.h"

/* Writes one line, without a full stop, into err (which may be NULL) and
 * returns status. */
int cst_fail(enum cst_status status, struct cst_error *err, const char *format,
	     ...) __attribute__((format(printf, 3, 4)));
/* Does so with ": " and the text of errno behind the line, and returns
 * CST_FAILED. */
int cst_fail_sys(struct cst_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Reports that memory ran out and returns CST_MEMORY. */
int cst_fail_memory(struct cst_error *err);

void guard_free(void *p);
void guard_close(int *fd);

/* auto_free frees the variable's pointer at the end of its scope, auto_close
 * closes its file descriptor unless that is negative. */
#define auto_free __attribute__((cleanup(guard_free)))
#define auto_close __attribute__((cleanup(guard_close)))

/* Returns the value of a guarded pointer and clears the pointer, so that the
 * guard frees nothing and the receiver owns the value. */
#define take(p)                             \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

#endif
