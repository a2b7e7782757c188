/* SPDX-License-Identifier: MIT
 *
 * How the shim begins, in libcstrace.a: as one of the program's constructors.
 */
#include "core/control.h"
#include "core/exception.h"
#include "core/thread.h"
#include "kernel/config.h"
#include "program/introduce.h"

#include <pthread.h>

/* musl hands a constructor nothing. */
__attribute__((constructor)) static void begin(void)
{
	char **environment = config_environment();

	thread_watch_forks(pthread_atfork);
	control_begin(environment);
	exception_begin(environment);
	introduce();
}
