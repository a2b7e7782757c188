/* SPDX-License-Identifier: MIT
 *
 * Exceptions, as the program's own marks tell of them: a row where one is
 * thrown and where it is caught, and which calls it leaves in between.
 */
#ifndef ENGINE_EXCEPTIONS_H
#define ENGINE_EXCEPTIONS_H

#include "calls/callstack.h"

/* A CST_TEXT record: a piece of what the next one says. */
void exceptions_take_text(struct thread *t, const struct cst_record *r);

/* A record of an exception, on s. */
struct exception_record {
	uint32_t number; /* of its site */
	uint64_t sp;
	uint64_t n_text;
	uint64_t time;
};

void exceptions_take(struct callstack *c, struct thread *t, struct stack *s,
		     const struct exception_record *r);

/* What leaves calls on s was not thrown: a thread that is ended by
 * pthread_exit() or pthread_cancel() is unwound as by an exception. */
void exceptions_force(struct callstack *c, struct stack *s);

/* The function that stands for what is on its way on s; UINT32_MAX: nothing
 * is, or it is not known. */
uint32_t exceptions_thrown(const struct stack *s);

/* An exception goes on in the frame of the innermost call on s. */
void exceptions_land(struct stack *s);

/* How call i on s ends, whose exit hook runs while an exception is on its way:
 * gcc runs it in the code that the exception goes through. */
enum call_end exceptions_end(struct stack *s, uint32_t i);

#endif
