/* SPDX-License-Identifier: MIT
 *
 * What test_frames traces: built by it as a library, with each compiler, and
 * its own hooks.  Functions tell their true CFA themselves.
 */
#include "hooked_program.h"

#include <alloca.h>
#include <stdint.h>
#include <string.h>

#define NO_TRACE __attribute__((no_instrument_function))
#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct subject_log subject_log;

NO_TRACE static void log_hook(int kind, void *callee, void *caller, void *hook,
			      char *frame)
{
	struct subject_event *e = &subject_log.events[subject_log.n_events];

	if (subject_log.n_events == SUBJECT_MAX)
		return;
	subject_log.n_events++;
	e->kind = kind;
	e->callee = (uint64_t)callee;
	e->caller = (uint64_t)caller;
	e->hook = (uint64_t)hook;
	e->sp = (uint64_t)frame + 16;
	memcpy(&e->fp, frame, sizeof(e->fp));
}

NO_TRACE NOINLINE void __cyg_profile_func_enter(void *callee, void *caller);
NO_TRACE NOINLINE void __cyg_profile_func_exit(void *callee, void *caller);

void __cyg_profile_func_enter(void *callee, void *caller)
{
	log_hook('<', callee, caller, __builtin_return_address(0),
		 __builtin_frame_address(0));
}

void __cyg_profile_func_exit(void *callee, void *caller)
{
	log_hook('>', callee, caller, __builtin_return_address(0),
		 __builtin_frame_address(0));
}

NO_TRACE NOINLINE static int touch(void *memory);
NO_TRACE NOINLINE void *subject_here(void);

void *subject_here(void)
{
	return (char *)__builtin_return_address(0) - 1;
}

/* Function `callee` says that its frame's CFA is this, and that it calls an
 * inlined one in `line`. */
NO_TRACE NOINLINE static void tell(void *callee, void *cfa, int line)
{
	struct subject_truth *t = &subject_log.truths[subject_log.n_truths++];

	t->callee = (uint64_t)callee;
	t->cfa = (uint64_t)cfa;
	t->line = (uint32_t)line;
	subject_log.tell = (uint64_t)tell;
	subject_log.tell_pc = (uint64_t)subject_here();
	touch(t);
}

/* Keeps the compiler from folding what the subjects do. */
NO_TRACE NOINLINE static int touch(void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
	return *(volatile char *)memory;
}

NOINLINE int subject_plain(int n)
{
	char text[40] = "plain";

	tell(subject_plain, __builtin_dwarf_cfa(), 0);
	return n + touch(text);
}

NOINLINE int subject_alloca(int n)
{
	char *text = alloca((size_t)n + 100);
	int sum = 0;

	text[0] = 1;
	tell(subject_alloca, __builtin_dwarf_cfa(), 0);
	for (int i = 0; i < n; i++) {
		char *more = alloca(200);

		more[0] = 2;
		sum += touch(more);
	}
	return sum + touch(text);
}

NOINLINE int subject_realigned(int n)
{
	char text[128] __attribute__((aligned(64))) = "realigned";

	/* No CFA: the builtin would change the frame's kind. */
	tell(subject_realigned, 0, 0);
	return n + touch(text);
}

NOINLINE int subject_realigned_alloca(int n)
{
	char text[128] __attribute__((aligned(64))) = "realigned";
	char *more = alloca((size_t)n * 8 + 8);

	more[0] = 3;
	return touch(more) + touch(text) + subject_plain(n);
}

ALWAYS_INLINE int subject_inlined(int n)
{
	char text[8] = "inlined";

	return n + touch(text);
}

ALWAYS_INLINE int subject_inlined_twice(int n)
{
	return touch(&n) + subject_inlined(n);
}

enum { LINE_INNER = __LINE__ - 3 };

NOINLINE int subject_inliner(int n)
{
	int sum;

	tell(subject_inlined, 0, __LINE__ + 1);
	sum = subject_inlined(n);
	tell(subject_inlined_twice, 0, __LINE__ + 1);
	sum += subject_inlined_twice(n);
	tell(subject_inlined, 0, LINE_INNER);
	return sum;
}

__attribute__((cold)) NOINLINE NO_TRACE static void rare(void *cfa)
{
	subject_log.cold_pc = (uint64_t)__builtin_return_address(0) - 1;
	touch(cfa);
}

NOINLINE int subject_with_cold(int n)
{
	subject_log.with_cold = (uint64_t)subject_with_cold;
	if (n > 1000) {
		char text[100] = "cold";

		rare(text);
		n -= touch(text);
	}
	return touch(&n);
}

NO_TRACE int subject_run(int n)
{
	memset(&subject_log, 0, sizeof(subject_log));
	return subject_plain(n) + subject_alloca(n) + subject_realigned(n) +
	       subject_realigned_alloca(n) + subject_inliner(n) +
	       subject_with_cold(n + 1000);
}
