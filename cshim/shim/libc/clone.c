/* SPDX-License-Identifier: MIT
 *
 * libc's ways to make a process past its fork handlers.  A child that goes on
 * in a copy of its parent's calls needs a mark of what they are; one that
 * shares our thread data is a guest (raw_clone.h), unless its parent waits for
 * it (CLONE_VFORK), for then it has them to itself.
 *
 * No frame of ours is left on the stack, which the child may not have, or
 * share.
 */
#include <linux/sched.h>
#include <sys/syscall.h>
#include "core/raw_clone.h"
#include "libc/clone.h"
#include "libc/exec.h"
#include "libc/interpose.h"
#include "libc/sandbox.h"

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
	libcs_need();
	announce(flags);
}

void before_fork(void)
{
	libcs_need();
	thread_mark_fork();
}

/* It is not known how a clone3 is meant: a mark does no harm. */
void before_syscall(long number, long a, long b, long c, long d, long e)
{
	libcs_need();
	if (number == SYS_fork || number == SYS_clone3)
		thread_mark_fork();
	else if (number == SYS_clone)
		announce(a);
	else if (number == SYS_execve)
		exec_enters((const char *)a, (char **)c);
	else
		sandbox_enters(number, (const long[]){a, b, c, d, e});
}
