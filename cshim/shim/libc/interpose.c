/* SPDX-License-Identifier: MIT
 *
 * In a library: the dynamic linker finds our functions before libc's.
 */
#include <dlfcn.h>
#include <signal.h>
#include "core/patched.h"
#include "core/sigstack.h"
#include "kernel/arch.h"
#include "libc/interpose.h"
#include "libc/clone.h"
#include "libc/jump.h"
#include "libc/sandbox.h"

void *libcs_longjmp, *libcs__longjmp, *libcs_siglongjmp, *libcs___longjmp_chk,
	*libcs_setcontext, *libcs_swapcontext, *libcs_clone, *libcs__Fork,
	*libcs_syscall, *libcs_prctl;
const void *libcs_sigsetjmp;

static int (*libcs_sigaltstack)(const stack_t *, stack_t *);

static int are_found;

/* All at once, as the program starts: when they are called, the linker's locks
 * may be taken.  Each by its name: in libc three of them are one, but a library
 * may have some of its own. */
void libcs_find(void)
{
	libcs_longjmp = dlsym(RTLD_NEXT, "longjmp");
	libcs__longjmp = dlsym(RTLD_NEXT, "_longjmp");
	libcs_siglongjmp = dlsym(RTLD_NEXT, "siglongjmp");
	libcs___longjmp_chk = dlsym(RTLD_NEXT, "__longjmp_chk");
	libcs_setcontext = dlsym(RTLD_NEXT, "setcontext");
	libcs_swapcontext = dlsym(RTLD_NEXT, "swapcontext");
	libcs_clone = dlsym(RTLD_NEXT, "clone");
	libcs__Fork = dlsym(RTLD_NEXT, "_Fork");
	libcs_syscall = dlsym(RTLD_NEXT, "syscall");
	libcs_prctl = dlsym(RTLD_NEXT, "prctl");
	/* glibc has none, and would call malloc() to say so. */
	if (!libcs_guards_jumps())
		libcs_sigsetjmp = dlsym(RTLD_NEXT, "sigsetjmp");
	libcs_sigaltstack = (int (*)(const stack_t *, stack_t *))dlsym(
		RTLD_NEXT, "sigaltstack");
	__atomic_store_n(&are_found, 1, __ATOMIC_RELEASE);
}

void libcs_need(void)
{
	if (unlikely(!__atomic_load_n(&are_found, __ATOMIC_ACQUIRE)))
		libcs_find();
}

extern __attribute__((weak)) const char *gnu_get_libc_version(void);

int libcs_guards_jumps(void)
{
	return gnu_get_libc_version != 0;
}

PASSING_FUNCTION(longjmp, before_longjmp, libcs_longjmp);
PASSING_FUNCTION(_longjmp, before_longjmp, libcs__longjmp);
PASSING_FUNCTION(siglongjmp, before_longjmp, libcs_siglongjmp);
PASSING_FUNCTION(__longjmp_chk, before_longjmp, libcs___longjmp_chk);
PASSING_FUNCTION(setcontext, before_setcontext, libcs_setcontext);
PASSING_FUNCTION(swapcontext, before_swapcontext, libcs_swapcontext);
PASSING_FUNCTION(clone, before_clone, libcs_clone);
PASSING_FUNCTION(_Fork, before_fork, libcs__Fork);
PASSING_FUNCTION(syscall, before_syscall, libcs_syscall);
PASSING_FUNCTION(prctl, before_prctl, libcs_prctl);

/* Recorded afterwards, from what the kernel answers then. */
EXPORT int sigaltstack(const stack_t *wanted, stack_t *before)
{
	int result;

	libcs_need();
	result = libcs_sigaltstack(wanted, before);
	if (wanted && result == 0)
		sigstack_tell();
	patched_end(sigaltstack, callers_sp() - 8);
	return result;
}
__asm__(DEBUGGERS_NAME(sigaltstack));
