/* SPDX-License-Identifier: MIT
 *
 * seccomp kills a thread for what its filter forbids, and recording makes some
 * system calls now and then: so the gate gets each filter before the kernel.
 *
 * A thread may also have its calls handed to itself, while a byte of it says so
 * (PR_SET_SYSCALL_USER_DISPATCH, as Wine does): then the gate is shut.
 *
 * Strict mode takes the clock away as well, as a prctl() does.  So recording
 * ends there, for the whole process, which is counted.
 */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "core/control.h"
#include "kernel/syscall_gate.h"
#include "libc/interpose.h"
#include "libc/sandbox.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

/* The last of them is the fifth. */
static void prctl_enters(long option, long mode, long program, long selector)
{
	if (option == PR_SET_SYSCALL_USER_DISPATCH)
		gate_dispatch(mode != 0, (const volatile uint8_t *)selector);
	else if ((option == PR_SET_SECCOMP && mode == SECCOMP_MODE_STRICT) ||
		 (option == PR_SET_TSC && mode == PR_TSC_SIGSEGV))
		control_end();
	else if (option == PR_SET_SECCOMP && mode == SECCOMP_MODE_FILTER)
		gate_add_filter((const struct sock_fprog *)program, 0);
}

static void seccomp_enters(long operation, long flags, long program)
{
	/* Anything more is refused: libseccomp asks by it what there is. */
	if (operation == SECCOMP_SET_MODE_STRICT && !flags && !program)
		control_end();
	else if (operation == SECCOMP_SET_MODE_FILTER)
		gate_add_filter((const struct sock_fprog *)program,
				flags & SECCOMP_FILTER_FLAG_TSYNC);
}

void sandbox_enters(long number, const long a[5])
{
	if (number == SYS_prctl)
		prctl_enters(a[0], a[1], a[2], a[4]);
	else if (number == SYS_seccomp)
		seccomp_enters(a[0], a[1], a[2]);
}

void before_prctl(int option, long mode, long program, long size, long selector)
{
	(void)size;
	libcs_need();
	prctl_enters(option, mode, program, selector);
}
