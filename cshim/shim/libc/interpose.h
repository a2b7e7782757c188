/* SPDX-License-Identifier: MIT
 *
 * libc's functions that the shim interposes: how the shim's come to be called
 * in place of them, and where libc's are.  There are two ways, of which a build
 * has one: the dynamic linker's (interpose.c), and the linker's --wrap, for
 * static programs (interpose_static.c).
 */
#ifndef SHIM_INTERPOSE_H
#define SHIM_INTERPOSE_H

#include "kernel/state.h"

/* These have names of their own, for the dynamic linker has no say in here. */
extern HIDDEN void *libcs_longjmp, *libcs__longjmp, *libcs_siglongjmp,
	*libcs___longjmp_chk, *libcs_setcontext, *libcs_swapcontext,
	*libcs_clone, *libcs__Fork, *libcs_syscall, *libcs_prctl;
/* NULL in glibc, which has none of that name. */
extern HIDDEN const void *libcs_sigsetjmp;

/* Looks for libc's functions. */
HIDDEN void libcs_find(void);
/* Does so if that was not done: an interposed function may be called before
 * the shim has begun (begin.c). */
HIDDEN void libcs_need(void);

/* Does libc guard the pointers in a jmp_buf?  glibc does, musl does not. */
HIDDEN int libcs_guards_jumps(void);

#endif
