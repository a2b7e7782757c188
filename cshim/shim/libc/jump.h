/* SPDX-License-Identifier: MIT
 *
 * Records that calls were unwound without their exit hooks.
 */
#ifndef SHIM_JUMP_H
#define SHIM_JUMP_H

#include "kernel/state.h"

#include <stdint.h>

/* Where a thread continues. */
struct jump {
	uint64_t sp;
	uint64_t fp;
	uint64_t pc; /* as a return address */
	/* pc does not show which inlined calls are unwound. */
	int is_anywhere;
	int is_switch;	  /* it may lead to another stack */
	int is_unwinders; /* also is_anywhere; the record has CST_BY_UNWINDER */
};

/* Records that this thread continues at *to.  Does nothing while it is not
 * recorded. */
void jump_tell(const struct jump *to);

/* Records that this thread continues in the function that called this one. */
#define jump_tell_caller()                                           \
	jump_tell(&(struct jump){                                    \
		.sp = callers_sp(),                                  \
		.fp = *(const uint64_t *)__builtin_frame_address(0), \
		.pc = (uint64_t)__builtin_return_address(0)})

/* The like for what a SENDING_FUNCTION calls, whose argument is frame. */
#define jump_tell_sender(frame)                                      \
	jump_tell(&(struct jump){                                    \
		.sp = (uint64_t)((frame) + 1),                       \
		.fp = *(const uint64_t *)__builtin_frame_address(0), \
		.pc = *(frame)})

/* What is known of the unwinder: its functions _Unwind_GetCFA() and
 * _Unwind_GetGR(), or NULL. */
struct unwinder {
	uint64_t (*get_sp)(void *);
	uint64_t (*get_register)(void *, int);
	/* A handler that it leads to will call the shim's
	 * __cxa_begin_catch(). */
	int reports_handlers;
};

/* Records that this thread continues in the frame that the unwinder's context
 * describes, at ip. */
void jump_tell_frame(const struct unwinder *u, void *context, uint64_t ip);

/* Run before libc's functions of these names; called by assembly only. */
HIDDEN void before_longjmp(const void *env);
HIDDEN void before_setcontext(const void *to);
HIDDEN void before_swapcontext(const void *from, const void *to);

#endif
