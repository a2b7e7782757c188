/* SPDX-License-Identifier: MIT
 *
 * How the shim begins, in libcstrace.a: as one of the program's constructors.
 */
#include "core/control.h"
#include "core/exception.h"
#include "core/thread.h"
#include "program/introduce.h"

__attribute__((constructor)) static void begin(int argc, char **argv,
					       char **environment)
{
	(void)argc;
	(void)argv;
	thread_watch_forks();
	control_begin(environment);
	exception_begin(environment);
	introduce();
}
