/* SPDX-License-Identifier: MIT
 *
 * In libcstrace.a: libc's is the system call and nothing else, so no option of
 * the linker is needed to have it before ours.  Weak, for the program may have
 * one of its own.
 */
#include <errno.h>
#include <signal.h>
#include "core/sigstack.h"
#include "kernel/arch.h"

EXPORT __attribute__((weak)) int sigaltstack(const stack_t *wanted,
					     stack_t *before)
{
	long result = syscall6(SYS_sigaltstack, (long)wanted, (long)before, 0,
			       0, 0, 0);

	if (result < 0) {
		errno = (int)-result;
		return -1;
	}
	if (wanted)
		sigstack_tell();
	return 0;
}
