/* SPDX-License-Identifier: MIT
 *
 * In libcstrace.a: a program that is linked with the linker's --wrap=longjmp
 * and so on (rooms.mk) calls __wrap_longjmp() for longjmp(), and __real_longjmp
 * is what it meant.  Without that option there is no such thing, and nobody
 * calls what is here.
 *
 * The unwinder and the library of C++, too, are part of such a program.
 */
#include "core/exception.h"
#include "kernel/arch.h"
#include "kernel/state.h"
#include "libc/clone.h"
#include "libc/exec.h"
#include "libc/interpose.h"
#include "libc/jump.h"
#include "libc/sandbox.h"

/* Weak, for neither must be there; nor does it make the linker look for it,
 * which --undefined does. */
#define WEAK __attribute__((weak))
#define REAL(name)                            \
	extern WEAK void __real_##name(void); \
	void *libcs_##name = __real_##name

REAL(longjmp);
REAL(_longjmp);
REAL(siglongjmp);
REAL(__longjmp_chk);
REAL(setcontext);
REAL(swapcontext);
REAL(clone);
REAL(_Fork);
REAL(syscall);
REAL(prctl);

const void *libcs_sigsetjmp;

void libcs_need(void)
{
}

/* Only of what takes us along by LD_PRELOAD is known what does not. */
void exec_enters(const char *path, char **environment)
{
	(void)path;
	(void)environment;
}

/* ---- whose they are --------------------------------------------------------
 *
 * The program may have functions of these names itself, with data of another
 * shape.  In a static program libc's have a second name, and are not linked in
 * where the program's stand for them; nothing but a static one has the first of
 * these. */

extern WEAK void __libc_setup_tls(void), __libc_siglongjmp(void),
	__setcontext(void), __swapcontext(void), __clone(void);
static void *const only_in_static = __libc_setup_tls;
static void *const own_longjmp = __libc_siglongjmp;
static void *const own_setcontext = __setcontext;
static void *const own_swapcontext = __swapcontext;
static void *const own_clone = __clone;

static int is_libcs(const void *real, const void *own)
{
	return !only_in_static || real == own;
}

extern WEAK const char *gnu_get_libc_version(void);

int libcs_guards_jumps(void)
{
	return only_in_static || gnu_get_libc_version;
}

void before_wrapped_longjmp(const void *env);
void before_wrapped_setcontext(const void *to);
void before_wrapped_swapcontext(const void *from, const void *to);
void before_wrapped_clone(int (*function)(void *), void *stack, int flags);

void before_wrapped_longjmp(const void *env)
{
	if (is_libcs(libcs_longjmp, own_longjmp) &&
	    is_libcs(libcs__longjmp, own_longjmp) &&
	    is_libcs(libcs_siglongjmp, own_longjmp))
		before_longjmp(env);
}

void before_wrapped_setcontext(const void *to)
{
	if (is_libcs(libcs_setcontext, own_setcontext))
		before_setcontext(to);
}

void before_wrapped_swapcontext(const void *from, const void *to)
{
	if (is_libcs(libcs_swapcontext, own_swapcontext))
		before_swapcontext(from, to);
}

void before_wrapped_clone(int (*function)(void *), void *stack, int flags)
{
	if (is_libcs(libcs_clone, own_clone))
		before_clone(function, stack, flags);
}

/* ---- theirs ----------------------------------------------------------------
 */

#define WRAP(name, before) PASSING_FUNCTION(__wrap_##name, before, libcs_##name)

WRAP(longjmp, before_wrapped_longjmp);
WRAP(_longjmp, before_wrapped_longjmp);
WRAP(siglongjmp, before_wrapped_longjmp);
WRAP(__longjmp_chk, before_longjmp);
WRAP(setcontext, before_wrapped_setcontext);
WRAP(swapcontext, before_wrapped_swapcontext);
WRAP(clone, before_wrapped_clone);
WRAP(_Fork, before_fork);
WRAP(syscall, before_syscall);
WRAP(prctl, before_prctl);

/* ---- exceptions (unwind.c) -------------------------------------------------
 */

EXPORT void __wrap__Unwind_SetIP(void *context, uint64_t ip);

extern WEAK void __real__Unwind_SetIP(void *context, uint64_t ip);
extern WEAK uint64_t _Unwind_GetCFA(void *context);
extern WEAK uint64_t _Unwind_GetGR(void *context, int number);
extern WEAK void __real___cxa_begin_catch(void);
static void (*const set_ip)(void *, uint64_t) = __real__Unwind_SetIP;
static uint64_t (*const get_sp)(void *) = _Unwind_GetCFA;
static uint64_t (*const get_register)(void *, int) = _Unwind_GetGR;
static void (*const begin_catch)(void) = __real___cxa_begin_catch;

void __wrap__Unwind_SetIP(void *context, uint64_t ip)
{
	struct unwinder unwinder = {.get_sp = get_sp,
				    .get_register = get_register,
				    .reports_handlers = begin_catch != 0};

	jump_tell_frame(&unwinder, context, ip);
	set_ip(context, ip);
}

#define WHAT(class) extern WEAK void _ZNKSt##class##4whatEv(void)
WHAT(9exception);
WHAT(13runtime_error);
WHAT(11logic_error);
WHAT(9bad_alloc);
WHAT(20bad_array_new_length);
WHAT(8bad_cast);
WHAT(10bad_typeid);
WHAT(13bad_exception);
WHAT(12future_error);
WHAT(17bad_function_call);
WHAT(12bad_weak_ptr);

/* Returns the functions that are linked in; tables of weak references may have
 * holes. */
static struct cxx cxx_now(uint64_t whats[12])
{
	void (*const all[])(void) = {
		_ZNKSt9exception4whatEv,
		_ZNKSt13runtime_error4whatEv,
		_ZNKSt11logic_error4whatEv,
		_ZNKSt9bad_alloc4whatEv,
		_ZNKSt20bad_array_new_length4whatEv,
		_ZNKSt8bad_cast4whatEv,
		_ZNKSt10bad_typeid4whatEv,
		_ZNKSt13bad_exception4whatEv,
		_ZNKSt12future_error4whatEv,
		_ZNKSt17bad_function_call4whatEv,
		_ZNKSt12bad_weak_ptr4whatEv,
	};
	int n = 0;

	for (int i = 0; i < 11; i++)
		if (all[i])
			whats[n++] = (uint64_t)all[i];
	whats[n] = 0;
	return (struct cxx){
		.whats = whats,
		.runtime_what = (uint64_t)_ZNKSt13runtime_error4whatEv,
		.logic_what = (uint64_t)_ZNKSt11logic_error4whatEv,
	};
}

extern WEAK void __real___cxa_throw(void), __real___cxa_rethrow(void),
	__real__ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(
		void),
	__real__ZSt17rethrow_exceptionSt13exception_ptr(void);
extern WEAK void *__cxa_get_globals(void);
static void *(*const get_globals)(void) = __cxa_get_globals;

uint64_t before_wrapped_catch(const void *exception, const void *b,
			      const void *c, const uint64_t *frame);
uint64_t before_wrapped_throw(const void *object, const void *type,
			      const void *destroy, const uint64_t *frame);
uint64_t before_wrapped_throw_again(const void *a, const void *b, const void *c,
				    const uint64_t *frame);
uint64_t before_wrapped_rethrow_gnu(const void *const *pointer, const void *b,
				    const void *c, const uint64_t *frame);
uint64_t before_wrapped_rethrow_llvm(const void *const *pointer, const void *b,
				     const void *c, const uint64_t *frame);

uint64_t before_wrapped_catch(const void *exception, const void *b,
			      const void *c, const uint64_t *frame)
{
	uint64_t whats[12];
	struct cxx cxx = cxx_now(whats);

	(void)b;
	(void)c;
	jump_tell_sender(frame);
	exception_tell_catch(&cxx, frame, exception);
	return (uint64_t)begin_catch;
}

uint64_t before_wrapped_throw(const void *object, const void *type,
			      const void *destroy, const uint64_t *frame)
{
	uint64_t whats[12];
	struct cxx cxx = cxx_now(whats);

	(void)destroy;
	exception_tell_throw(&cxx, frame, object, type);
	return (uint64_t)__real___cxa_throw;
}

uint64_t before_wrapped_throw_again(const void *a, const void *b, const void *c,
				    const uint64_t *frame)
{
	uint64_t whats[12];
	struct cxx cxx = cxx_now(whats);

	(void)a;
	(void)b;
	(void)c;
	exception_tell_again(&cxx, frame, get_globals);
	return (uint64_t)__real___cxa_rethrow;
}

uint64_t before_wrapped_rethrow_gnu(const void *const *pointer, const void *b,
				    const void *c, const uint64_t *frame)
{
	uint64_t whats[12];
	struct cxx cxx = cxx_now(whats);

	(void)b;
	(void)c;
	exception_tell_rethrow(&cxx, frame, *pointer);
	return (uint64_t)
		__real__ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE;
}

uint64_t before_wrapped_rethrow_llvm(const void *const *pointer, const void *b,
				     const void *c, const uint64_t *frame)
{
	before_wrapped_rethrow_gnu(pointer, b, c, frame);
	return (uint64_t)__real__ZSt17rethrow_exceptionSt13exception_ptr;
}

SENDING_FUNCTION(__wrap___cxa_begin_catch, before_wrapped_catch);
SENDING_FUNCTION(__wrap___cxa_throw, before_wrapped_throw);
SENDING_FUNCTION(__wrap___cxa_rethrow, before_wrapped_throw_again);
SENDING_FUNCTION(
	__wrap__ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE,
	before_wrapped_rethrow_gnu);
SENDING_FUNCTION(__wrap__ZSt17rethrow_exceptionSt13exception_ptr,
		 before_wrapped_rethrow_llvm);
