// SPDX-License-Identifier: MIT
// For a gdb that knows less extended state than the processor has (AMX): the
// kernel takes that state as a whole only, so what gdb leaves out is added.
// To be preloaded into gdb, not into what gdb runs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

typedef long Ptrace(enum __ptrace_request request, ...);

__attribute__((constructor)) static void keep_from_children(void)
{
	unsetenv("LD_PRELOAD");
}

long ptrace(enum __ptrace_request request, ...)
{
	static char state[1 << 16];
	struct iovec whole = {state, sizeof state};
	va_list rest;
	va_start(rest, request);
	pid_t pid = va_arg(rest, pid_t);
	void *what = va_arg(rest, void *);
	struct iovec *given = va_arg(rest, void *);
	va_end(rest);

	static Ptrace *next;
	if (!next)
		next = (Ptrace *)dlsym(RTLD_NEXT, "ptrace");
	if (request == PTRACE_SETREGSET && what == (void *)NT_X86_XSTATE &&
	    next(PTRACE_GETREGSET, pid, what, &whole) == 0 &&
	    given->iov_len < whole.iov_len) {
		memcpy(state, given->iov_base, given->iov_len);
		given = &whole;
	}
	return next(request, pid, what, given);
}
