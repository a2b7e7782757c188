/* SPDX-License-Identifier: MIT
 *
 * Linked into a program beside cstrace's hooks (-Wl,--wrap=..., see
 * programs.py): each hook call is written down here, by one write(), and goes
 * on to the hook that it was meant for with its stack and registers as they
 * were. So both see the same run, even of threads that never run the same way
 * twice.
 *
 * An event is five numbers of 64 bits: kind, thread and process; callee;
 * caller; the hook call's return address; the canonical frame address of the
 * function that the hook was called in, by the unwinder of the compiler's own
 * library.  witness.py makes the trees.  CSTRACE_WITNESS names the file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

enum { ENTER = 1, EXIT, FORK, CHILD };

/* Out of the way of programs that number their own descriptors. */
enum { HIGH = 800 };

static int file = -1;
static uint64_t n_forks;
static __thread uint64_t self;

static void put(uint64_t kind, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t event[] = {0, a, b, c, d};

	if (!self)
		self = (uint64_t)getpid() << 32 | (uint64_t)gettid() << 8;
	event[0] = self | kind;
	/* One append of this size is whole, whichever thread makes it. */
	if (write(file, event, sizeof(event)) != sizeof(event))
		abort();
}

struct search {
	uintptr_t hook_cfa, before, found;
};

/* The unwinder tells for each frame the CFA of the one that it called. */
static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *arg)
{
	struct search *s = arg;
	uintptr_t cfa = _Unwind_GetCFA(context);

	if (s->before == s->hook_cfa) {
		s->found = cfa;
		return _URC_NORMAL_STOP;
	}
	s->before = cfa;
	return _URC_NO_REASON;
}

__attribute__((used)) static void witness(uint64_t kind, uintptr_t callee,
					  uintptr_t caller,
					  const uintptr_t *stack)
{
	struct search s = {.hook_cfa = (uintptr_t)(stack + 1)};
	uintptr_t hook = *stack;
	int kept = errno;

	if (file >= 0) {
		/* Jumped to instead of called: the frame is gone, and the
		 * hook's own is where it was. */
		if (hook == caller)
			s.found = s.hook_cfa;
		else
			_Unwind_Backtrace(look, &s);
		put(kind, callee, caller, hook, s.found);
	}
	errno = kept;
}

/* At entry the stack is 8 off its alignment of 16: two words and 8 put that
 * right. */
#define WRAP(name, kind)                                    \
	__asm__(".text\n.globl __wrap_" name "\n"           \
		".type __wrap_" name ", @function\n"        \
		"__wrap_" name ":\n"                        \
		".cfi_startproc\n"                          \
		"push %rdi\n.cfi_adjust_cfa_offset 8\n"     \
		"push %rsi\n.cfi_adjust_cfa_offset 8\n"     \
		"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"  \
		"mov %rsi, %rdx\n"                          \
		"mov %rdi, %rsi\n"                          \
		"lea 24(%rsp), %rcx\n"                      \
		"mov $" #kind ", %edi\n"                    \
		"call witness\n"                            \
		"add $8, %rsp\n.cfi_adjust_cfa_offset -8\n" \
		"pop %rsi\n.cfi_adjust_cfa_offset -8\n"     \
		"pop %rdi\n.cfi_adjust_cfa_offset -8\n"     \
		"jmp __real_" name "\n"                     \
		".cfi_endproc\n"                            \
		".size __wrap_" name ", . - __wrap_" name "\n")

WRAP("__cyg_profile_func_enter", 1);
WRAP("__cyg_profile_func_exit", 2);

static void before_fork(void)
{
	if (file >= 0)
		put(FORK, ++n_forks, 0, 0, 0);
}

static void in_child(void)
{
	uint64_t parent = self;

	self = 0;
	if (file >= 0)
		put(CHILD, n_forks, parent, 0, 0);
}

/* Before the constructors of the program. */
__attribute__((constructor(101))) static void open_file(void)
{
	const char *path = getenv("CSTRACE_WITNESS");
	int fd;

	if (!path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	file = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
	if (fd < 0 || file < 0)
		abort();
	close(fd);
	pthread_atfork(before_fork, NULL, in_child);
}
