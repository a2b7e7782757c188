/* SPDX-License-Identifier: MIT
 *
 * Records where exceptions are thrown and caught, and their types and texts.
 */
#ifndef SHIM_EXCEPTION_H
#define SHIM_EXCEPTION_H

#include "cstrace/layout.h"

typedef const char *(*what_fn)(const void *);

/* What is known of the C++ library, so that its what() can be distinguished
 * from the program's own. */
struct cxx {
	uint64_t code, code_size; /* its code; 0: not known, */
	const uint64_t *whats;	  /* but these functions in it, up to a 0 */
	/* std::runtime_error::what() and std::logic_error::what(), or 0. */
	uint64_t runtime_what, logic_what;
};

/* Reads what the environment says of what(), as the program starts. */
void exception_begin(char **environment);

/* Records a throw of that object, of the std::type_info type.  frame is where
 * the call that throws (or, for exception_tell_catch(), that begins a handler)
 * has its return address on the stack. */
void exception_tell_throw(const struct cxx *cxx, const uint64_t *frame,
			  const void *object, const void *type);
/* Records that the thread's innermost exception in a handler is thrown again;
 * get_globals is the library's __cxa_get_globals(). */
void exception_tell_again(const struct cxx *cxx, const uint64_t *frame,
			  void *(*get_globals)(void));
/* Records that the object that a std::exception_ptr points to is thrown
 * again. */
void exception_tell_rethrow(const struct cxx *cxx, const uint64_t *frame,
			    const void *object);
/* Records that the unwinder's exception, of any language, is caught. */
void exception_tell_catch(const struct cxx *cxx, const uint64_t *frame,
			  const void *unwind_exception);

#endif
