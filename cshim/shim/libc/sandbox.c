/* SPDX-License-Identifier: MIT
 *
 * seccomp kills a thread for what its filter forbids, and recording makes some
 * system calls now and then: so the gate gets each filter before the kernel.
 *
 * Its strict mode takes the clock away as well, as a prctl() does.  So
 * recording ends there, for the whole process, which is counted.
 */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "core/control.h"
#include "kernel/syscall_gate.h"
#include "libc/interpose.h"
#include "libc/sandbox.h"

static void prctl_enters(long option, long mode, long program)
{
	if ((option == PR_SET_SECCOMP && mode == SECCOMP_MODE_STRICT) ||
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

void sandbox_enters(long number, long a, long b, long c)
{
	if (number == SYS_prctl)
		prctl_enters(a, b, c);
	else if (number == SYS_seccomp)
		seccomp_enters(a, b, c);
}

void before_prctl(int option, unsigned long mode, unsigned long program)
{
	libcs_need();
	prctl_enters(option, (long)mode, (long)program);
}
