/* SPDX-License-Identifier: MIT
 *
 * In code built by clang, exceptions run no hooks of the calls that they
 * unwind. But before one continues in a handler or a destructor, that code's
 * language calls the unwinder with the place, through us: all frames below that
 * one's are unwound.  A handler then calls __cxa_begin_catch(): what is inlined
 * in its frame, but does not contain it, is unwound as well.
 *
 * Throws and catches of exceptions are recorded, too.
 */
#include "libc/unwind.h"
#include "core/exception.h"
#include "kernel/arch.h"
#include "kernel/state.h"
#include "libc/jump.h"
#include "libc/next_symbol.h"

EXPORT void _Unwind_SetIP(void *context, uint64_t ip);
EXPORT void __cxa_begin_catch(void);
EXPORT void __cxa_throw(void);
EXPORT void __cxa_rethrow(void);
/* std::rethrow_exception(), as GNU's library and LLVM's have it. */
EXPORT void _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(void);
EXPORT void _ZSt17rethrow_exceptionSt13exception_ptr(void);

#define WHATS "_ZNKSt13runtime_error4whatEv", "_ZNKSt11logic_error4whatEv"

/* A neighbour is called just before, or is data, which is bound at once. */
static struct next set_ip = {
	.name = "_Unwind_SetIP",
	.companions = {"_Unwind_GetCFA", "_Unwind_GetGR"},
	.neighbour = "_Unwind_SetGR",
	.ours = (uint64_t)_Unwind_SetIP,
};
static struct next begin_catch = {
	.name = "__cxa_begin_catch",
	.companions = {WHATS},
	.neighbour = "__gxx_personality_v0",
	.ours = (uint64_t)__cxa_begin_catch,
};
static struct next throw = {
	.name = "__cxa_throw",
	.companions = {WHATS},
	.neighbour = "__cxa_allocate_exception",
	.ours = (uint64_t)__cxa_throw,
};
static struct next throw_again = {
	.name = "__cxa_rethrow",
	.companions = {WHATS, "__cxa_get_globals"},
	.neighbour = "__gxx_personality_v0",
	.ours = (uint64_t)__cxa_rethrow,
};
static struct next rethrow_gnu = {
	.name = "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
	.companions = {WHATS},
	.neighbour = "__gxx_personality_v0",
	.ours = (uint64_t)
		_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE,
};
static struct next rethrow_llvm = {
	.name = "_ZSt17rethrow_exceptionSt13exception_ptr",
	.companions = {WHATS},
	.neighbour = "__gxx_personality_v0",
	.ours = (uint64_t)_ZSt17rethrow_exceptionSt13exception_ptr,
};

void unwind_begin(void)
{
	next_begin(&set_ip);
	next_begin(&begin_catch);
	next_begin(&throw);
	next_begin(&throw_again);
	next_begin(&rethrow_gnu);
	next_begin(&rethrow_llvm);
}

static struct next next_for(const struct next *n, const void *caller)
{
	return likely(n->found) ? *n : next_of(n, caller);
}

static struct cxx cxx_of(const struct next *n)
{
	return (struct cxx){.code = n->code,
			    .code_size = n->code_size,
			    .runtime_what = n->found_companions[0],
			    .logic_what = n->found_companions[1]};
}

/* Is the caller, a language's part of unwinding, of the C++ library whose
 * __cxa_begin_catch() is ours? */
static int reports_handlers(const void *caller)
{
	return begin_catch.found &&
	       (uint64_t)caller - begin_catch.code < begin_catch.code_size;
}

EXPORT void _Unwind_SetIP(void *context, uint64_t ip)
{
	const void *caller = __builtin_return_address(0);
	struct next next = next_for(&set_ip, caller);
	struct unwinder unwinder = {
		.get_sp = (uint64_t(*)(void *))next.found_companions[0],
		.get_register =
			(uint64_t(*)(void *, int))next.found_companions[1],
		.reports_handlers = reports_handlers(caller),
	};

	jump_tell_frame(&unwinder, context, ip);
	if (next.found)
		((void (*)(void *, uint64_t))next.found)(context, ip);
}
__asm__(DEBUGGERS_NAME(_Unwind_SetIP));

/* What the C++ library does is called by the program's function, so to say, not
 * by one of ours: what throws finds the thrower's frame, and a debugger's user
 * the handler's. */
HIDDEN uint64_t before_catch(const void *exception, const void *b,
			     const void *c, const uint64_t *frame);
HIDDEN uint64_t before_throw(const void *object, const void *type,
			     const void *destroy, const uint64_t *frame);
HIDDEN uint64_t before_throw_again(const void *a, const void *b, const void *c,
				   const uint64_t *frame);
HIDDEN uint64_t before_rethrow_gnu(const void *const *pointer, const void *b,
				   const void *c, const uint64_t *frame);
HIDDEN uint64_t before_rethrow_llvm(const void *const *pointer, const void *b,
				    const void *c, const uint64_t *frame);

uint64_t before_catch(const void *exception, const void *b, const void *c,
		      const uint64_t *frame)
{
	struct next next = next_for(&begin_catch, (const void *)*frame);
	struct cxx cxx = cxx_of(&next);

	(void)b;
	(void)c;
	jump_tell_sender(frame);
	exception_tell_catch(&cxx, frame, exception);
	return next.found;
}

uint64_t before_throw(const void *object, const void *type, const void *destroy,
		      const uint64_t *frame)
{
	struct next next = next_for(&throw, (const void *)*frame);
	struct cxx cxx = cxx_of(&next);

	(void)destroy;
	exception_tell_throw(&cxx, frame, object, type);
	return next.found;
}

uint64_t before_throw_again(const void *a, const void *b, const void *c,
			    const uint64_t *frame)
{
	struct next next = next_for(&throw_again, (const void *)*frame);
	struct cxx cxx = cxx_of(&next);

	(void)a;
	(void)b;
	(void)c;
	exception_tell_again(&cxx, frame,
			     (void *(*)(void))next.found_companions[2]);
	return next.found;
}

static uint64_t before_rethrow(const struct next *n, const void *object,
			       const uint64_t *frame)
{
	struct next next = next_for(n, (const void *)*frame);
	struct cxx cxx = cxx_of(&next);

	exception_tell_rethrow(&cxx, frame, object);
	return next.found;
}

uint64_t before_rethrow_gnu(const void *const *pointer, const void *b,
			    const void *c, const uint64_t *frame)
{
	(void)b;
	(void)c;
	return before_rethrow(&rethrow_gnu, *pointer, frame);
}

uint64_t before_rethrow_llvm(const void *const *pointer, const void *b,
			     const void *c, const uint64_t *frame)
{
	(void)b;
	(void)c;
	return before_rethrow(&rethrow_llvm, *pointer, frame);
}

SENDING_FUNCTION(__cxa_begin_catch, before_catch);
SENDING_FUNCTION(__cxa_throw, before_throw);
SENDING_FUNCTION(__cxa_rethrow, before_throw_again);
SENDING_FUNCTION(_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE,
		 before_rethrow_gnu);
SENDING_FUNCTION(_ZSt17rethrow_exceptionSt13exception_ptr, before_rethrow_llvm);
