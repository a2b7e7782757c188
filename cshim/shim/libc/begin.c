/* SPDX-License-Identifier: MIT
 *
 * How the shim begins, in libcstrace.so: before any constructor, for libraries
 * have theirs run before a preloaded one's, and these make calls as well.  The
 * linker's -z initfirst (rooms.mk) asks for it.  libc is not set up by then:
 * what begins here must not rest on more of it than the dynamic linker does.
 *
 * A sanitizer wants a part of the address space for itself.  Where there is one
 * it comes first, and we as the last before the program's own constructors.
 */
#include <dlfcn.h>
#include <errno.h>
#include "core/control.h"
#include "core/exception.h"
#include "core/patches.h"
#include "core/thread.h"
#include "kernel/arch.h"
#include "kernel/config.h"
#include "libc/deepbind.h"
#include "libc/exec.h"
#include "libc/find_object.h"
#include "libc/interpose.h"
#include "libc/opened.h"
#include "libc/unwind.h"
#include "program/introduce.h"

#define WEAK __attribute__((weak, visibility("default")))

extern WEAK void __asan_init(void), __hwasan_init(void), __msan_init(void),
	__tsan_init(void);

static int has_begun;

/* ---- atfork ---------------------------------------------------------------
 */

typedef void fork_handler(void);

extern WEAK int __register_atfork(fork_handler *, fork_handler *,
				  fork_handler *, void *);
extern HIDDEN void *__dso_handle;

/* glibc links pthread_atfork() into what uses it, where it calls the first of
 * these; musl has the second. */
static int atfork(fork_handler *before, fork_handler *parent,
		  fork_handler *child)
{
	thread_atfork *musls;

	if (__register_atfork)
		return __register_atfork(before, parent, child, &__dso_handle);
	musls = (thread_atfork *)dlsym(RTLD_NEXT, "pthread_atfork");
	return musls ? musls(before, parent, child) : -1;
}

/* ---- how it begins --------------------------------------------------------
 */

static void begin_all(char **environment)
{
	if (has_begun)
		return;
	has_begun = 1;
	thread_watch_forks(atfork);
	control_begin(environment);
	exception_begin(environment);
	introduce();
	patches_begin(environment);
	opened_begin();
	find_begin();
	libcs_find();
	unwind_begin();
	exec_begin(environment);
	redirect_begin();
}

static int has_sanitizer(void)
{
	return __asan_init || __hwasan_init || __msan_init || __tsan_init;
}

/* Not in a program that has loaded us while it ran; nor with musl, which hands
 * a constructor nothing. */
static int is_before_libc(void)
{
	return !config_environment() && !*program_invocation_name;
}

__attribute__((constructor)) static void begin(int argc, char **argv,
					       char **environment)
{
	int is_early = is_before_libc();

	(void)argc;
	(void)argv;
	if (is_early)
		config_early(environment);
	if (!is_early)
		begin_all(config_environment());
	else if (!has_sanitizer())
		begin_all(environment);
}

/* What a program begins with: it calls its constructors, and main(). */
extern HIDDEN void *libcs_start;
void *libcs_start;

HIDDEN void begin_main(void *main, int argc, char **argv);

void begin_main(void *main, int argc, char **argv)
{
	(void)main;
	if (!libcs_start)
		libcs_start = dlsym(RTLD_NEXT, "__libc_start_main");
	config_early(0);
	begin_all(argv + argc + 1);
}

PASSING_FUNCTION(__libc_start_main, begin_main, libcs_start);
