/* SPDX-License-Identifier: MIT
 *
 * In libcstrace.a: a program that is linked with the linker's --wrap=longjmp
 * and so on (files.mk) calls __wrap_longjmp() for longjmp(), and __real_longjmp
 * is what it meant.  Without that option there is no such thing, and nobody
 * calls what is here.
 *
 * The unwinder and the library of C++, too, are part of such a program.
 */
#include "arch.h"
#include "exec.h"
#include "jump.h"
#include "libcs.h"
#include "state.h"

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
EXPORT void *__wrap___cxa_begin_catch(void *exception);

extern WEAK void __real__Unwind_SetIP(void *context, uint64_t ip);
extern WEAK uint64_t _Unwind_GetCFA(void *context);
extern WEAK uint64_t _Unwind_GetGR(void *context, int number);
extern WEAK void *__real___cxa_begin_catch(void *exception);
static void (*const set_ip)(void *, uint64_t) = __real__Unwind_SetIP;
static uint64_t (*const get_sp)(void *) = _Unwind_GetCFA;
static uint64_t (*const get_register)(void *, int) = _Unwind_GetGR;
static void *(*const begin_catch)(void *) = __real___cxa_begin_catch;

void __wrap__Unwind_SetIP(void *context, uint64_t ip)
{
	jump_tell_frame(context, ip, get_sp, get_register);
	set_ip(context, ip);
}

void *__wrap___cxa_begin_catch(void *exception)
{
	jump_tell_caller();
	return begin_catch(exception);
}
