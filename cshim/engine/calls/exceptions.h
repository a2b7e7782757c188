/* SPDX-License-Identifier: MIT
 *
 * Exceptions, as the shim's records report them: a row where one is thrown and
 * where it is caught, and which calls it unwinds in between.
 */
#ifndef ENGINE_EXCEPTIONS_H
#define ENGINE_EXCEPTIONS_H

#include "calls/callstack.h"

/* A record of an exception, on s. */
struct exception_record {
	uint32_t number; /* of its site */
	uint64_t sp;
	uint64_t n_text;
	uint64_t time;
};

/* Handles a record of an exception on s: adds its row, and keeps what it
 * unwinds. */
void exceptions_take(struct callstack *c, struct thread *t, struct stack *s,
		     const struct exception_record *r);

/* Reports that what unwinds the calls on s was not thrown: pthread_exit() and
 * pthread_cancel() unwind a thread as an exception does. */
void exceptions_force(struct callstack *c, struct stack *s);

/* Reports that the exception goes on in the frame of the innermost call on s:
 * it is caught there, or a cleanup runs. */
void exceptions_land(struct stack *s);

/* Returns how call i on s ends if its exit hook runs now: while an exception is
 * on its way gcc runs it in the code that the exception passes through. */
enum call_end exceptions_end(struct stack *s, uint32_t i);

#endif
