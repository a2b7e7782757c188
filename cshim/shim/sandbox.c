/* SPDX-License-Identifier: MIT
 *
 * seccomp's strict mode kills a thread for any system call but read, write,
 * exit and sigreturn, and recording makes some now and then.  So it ends where
 * a thread enters that mode, for the whole process, and that is counted as a
 * loss.  A filter is left to the program that makes it.
 */
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "area.h"
#include "arch.h"
#include "control.h"
#include "sandbox.h"
#include "state.h"

void sandbox_enters(long number, long a, long b)
{
	if ((number == SYS_prctl && a == PR_SET_SECCOMP &&
	     b == SECCOMP_MODE_STRICT) ||
	    (number == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT))
		control_end();
}

extern HIDDEN void *libcs_prctl;
void *libcs_prctl;

__attribute__((constructor)) static void sandbox_begin(void)
{
	libcs_prctl = dlsym(RTLD_NEXT, "prctl");
}

void before_prctl(int option, unsigned long mode)
{
	if (!libcs_prctl)
		sandbox_begin();
	sandbox_enters(SYS_prctl, option, (long)mode);
}
PASSING_FUNCTION(prctl, before_prctl, libcs_prctl);
