/* SPDX-License-Identifier: MIT
 *
 * libc's functions that ours stand before: how ours come to be called in place
 * of them, and where theirs are.  Two ways to know, of which a build takes one:
 * the dynamic linker's (interpose.c), and the linker's --wrap, for static
 * programs (interpose_static.c).
 */
#ifndef SHIM_INTERPOSE_H
#define SHIM_INTERPOSE_H

#include "kernel/state.h"

/* By names of their own, for the dynamic linker has no say in here. */
extern HIDDEN void *libcs_longjmp, *libcs__longjmp, *libcs_siglongjmp,
	*libcs___longjmp_chk, *libcs_setcontext, *libcs_swapcontext,
	*libcs_clone, *libcs__Fork, *libcs_syscall, *libcs_prctl;

/* Whoever is called before our constructors have run looks for them first. */
HIDDEN void libcs_need(void);

#endif
