/* SPDX-License-Identifier: MIT
 *
 * libc's ways to make a process past its fork handlers.  A child that goes on
 * in a copy of its parent's calls needs a mark of what they are; one that
 * shares our thread data is a guest (guest.h), unless its parent waits for it
 * (CLONE_VFORK), for then it has them to itself.
 *
 * No frame of ours is left on the stack, which the child may not have, or
 * share.
 */
#include <dlfcn.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include "exec.h"
#include "guest.h"
#include "sandbox.h"
#include "state.h"
#include "arch.h"

/* By names of their own, for the dynamic linker has no say in here.  None is
 * reached before it was looked for. */
extern HIDDEN void *libcs_clone, *libcs_fork, *libcs_syscall;
void *libcs_clone, *libcs_fork, *libcs_syscall;

/* All at once, as the program starts: when they are called, the linker's locks
 * may be taken. */
static void find(void)
{
	libcs_clone = dlsym(RTLD_NEXT, "clone");
	libcs_fork = dlsym(RTLD_NEXT, "_Fork");
	libcs_syscall = dlsym(RTLD_NEXT, "syscall");
}

__attribute__((constructor)) static void clone_begin(void)
{
	find();
}

static void announce(long flags)
{
	if (!(flags & CLONE_VM))
		thread_mark_fork();
	else if (!(flags & (CLONE_VFORK | CLONE_SETTLS)))
		guests_expect();
}

void before_clone(int (*function)(void *), void *stack, int flags)
{
	(void)function;
	(void)stack;
	if (!libcs_clone)
		find();
	announce(flags);
}
PASSING_FUNCTION(clone, before_clone, libcs_clone);

void before_fork(void)
{
	if (!libcs_fork)
		find();
	thread_mark_fork();
}
PASSING_FUNCTION(_Fork, before_fork, libcs_fork);

/* Of a clone3 we do not know how it is meant: a mark does no harm. */
void before_syscall(long number, long a, long b, long c)
{
	if (!libcs_syscall)
		find();
	if (number == SYS_fork || number == SYS_clone3)
		thread_mark_fork();
	else if (number == SYS_clone)
		announce(a);
	else if (number == SYS_execve)
		exec_enters((const char *)a, (char **)c);
	else
		sandbox_enters(number, a, b, c);
}
PASSING_FUNCTION(syscall, before_syscall, libcs_syscall);
