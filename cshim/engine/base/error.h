/* SPDX-License-Identifier: MIT
 *
 * Telling a failure once, where it is known; and scope guards.
 */
#ifndef ENGINE_ERROR_H
#define ENGINE_ERROR_H

#include "cstrace/engine.h"

/* Each writes one line into err (which may be NULL) and returns the status
 * that its name says. */
int cst_fail(enum cst_status status, struct cst_error *err, const char *format,
	     ...) __attribute__((format(printf, 3, 4)));
/* CST_FAILED, with ": " and errno's text behind the line. */
int cst_fail_sys(struct cst_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int cst_fail_memory(struct cst_error *err);

void guard_free(void *p);
void guard_close(int *fd);

/* Freed or closed at the end of the scope. */
#define auto_free __attribute__((cleanup(guard_free)))
#define auto_close __attribute__((cleanup(guard_close)))

/* The guarded pointer's value; the guard lets go of it. */
#define take(p)                             \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

#endif
