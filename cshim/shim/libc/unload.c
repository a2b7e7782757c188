/* SPDX-License-Identifier: MIT
 *
 * libc's dlclose(), after which the unloaded library's sites are forgotten: the
 * next one may come to the same addresses, and no gdb tells us.
 */
#include <dlfcn.h>
#include "core/control.h"
#include "core/patched.h"
#include "kernel/arch.h"
#include "kernel/state.h"

EXPORT int dlclose(void *handle)
{
	static int (*libcs)(void *);
	int (*next)(void *) = __atomic_load_n(&libcs, __ATOMIC_RELAXED);
	int status;

	if (!next) {
		next = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
		__atomic_store_n(&libcs, next, __ATOMIC_RELAXED);
	}
	if (!next)
		return -1;
	status = next(handle);
	control_unloaded();
	patched_end(dlclose, callers_sp() - 8);
	return status;
}
__asm__(DEBUGGERS_NAME(dlclose));
