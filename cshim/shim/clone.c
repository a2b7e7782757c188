/* SPDX-License-Identifier: MIT
 *
 * libc's clone(): does it make a child that shares our thread data (guest.h)?
 * One that its parent waits for (CLONE_VFORK) has them to itself.
 */
#include <dlfcn.h>
#include <linux/sched.h>
#include "guest.h"
#include "state.h"

/* What is behind the fourth argument may not have been given: it is passed on
 * as it comes. */
typedef int clone_fn(int (*)(void *), void *, int, void *, void *, void *,
		     void *);

static clone_fn *libcs_clone;

static clone_fn *clone_find(void)
{
	clone_fn *next = __atomic_load_n(&libcs_clone, __ATOMIC_RELAXED);

	if (!next) {
		next = (clone_fn *)dlsym(RTLD_NEXT, "clone");
		__atomic_store_n(&libcs_clone, next, __ATOMIC_RELAXED);
	}
	return next;
}

/* Before the program forks where the linker's locks are taken. */
__attribute__((constructor)) static void clone_begin(void)
{
	clone_find();
}

EXPORT int clone(int (*function)(void *), void *stack, int flags, void *arg,
		 void *parent_tid, void *tls, void *child_tid)
{
	clone_fn *next = clone_find();

	if (!next)
		return -1;
	if ((flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS)) == CLONE_VM)
		guests_expect();
	return next(function, stack, flags, arg, parent_tid, tls, child_tid);
}
