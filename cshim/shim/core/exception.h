/* SPDX-License-Identifier: MIT
 *
 * Telling where exceptions are thrown and caught, and which they are.
 */
#ifndef SHIM_EXCEPTION_H
#define SHIM_EXCEPTION_H

#include "cstrace/layout.h"

typedef const char *(*what_fn)(const void *);

/* What is to be known of the library of C++, so that its what() is told from
 * the program's own. */
struct cxx {
	uint64_t code, code_size; /* its code; 0: not known, */
	const uint64_t *whats;	  /* but these functions in it, up to a 0 */
	/* std::runtime_error::what() and std::logic_error::what(), or 0. */
	uint64_t runtime_what, logic_what;
};

/* At *frame is the return address of the call that throws, or that a handler
 * begins with. */
void exception_tell_throw(const struct cxx *cxx, const uint64_t *frame,
			  const void *object, const void *type);
/* The thread's innermost exception in a handler, by the library's
 * __cxa_get_globals(). */
void exception_tell_again(const struct cxx *cxx, const uint64_t *frame,
			  void *(*get_globals)(void));
/* The object that a std::exception_ptr points to. */
void exception_tell_rethrow(const struct cxx *cxx, const uint64_t *frame,
			    const void *object);
/* The unwinder's exception, of any language. */
void exception_tell_catch(const struct cxx *cxx, const uint64_t *frame,
			  const void *unwind_exception);

#endif
