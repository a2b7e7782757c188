/* SPDX-License-Identifier: MIT
 *
 * Two ways to hold the program at each event: gdb's breakpoints on functions
 * that do nothing, or a ticket that the reader answers.
 */
#include "core/sync.h"
#include "core/area.h"
#include "core/reader.h"
#include "cstrace/cstrace.h"
#include "kernel/arch.h"
#include "kernel/state.h"

NOOP_FUNCTION(cstrace_hook_enter, .Lhook_enter);
NOOP_FUNCTION(cstrace_hook_exit, .Lhook_exit);

/* Straight to our own, whatever the program defines under those names. */
extern __attribute__((visibility("hidden"))) void
hook_enter(uint64_t callee, uint64_t caller,
	   uint64_t number) __asm__(".Lhook_enter");
extern __attribute__((visibility("hidden"))) void
hook_exit(uint64_t callee, uint64_t caller,
	  uint64_t number) __asm__(".Lhook_exit");

/* The value of sync_done at which waiting was in vain, in the form of
 * gave_up_at in chunk.c. */
static uint64_t gave_up_at;

static void sync_breakpoint(uint64_t callee, uint64_t caller,
			    enum cst_kind kind)
{
	uint32_t number =
		__atomic_add_fetch(&area->sync_number, 1, __ATOMIC_RELAXED);

	if (kind == CST_ENTER)
		hook_enter(callee, caller, number);
	else
		hook_exit(callee, caller, number);
}

static void sync_handshake(void)
{
	uint32_t ticket =
		__atomic_add_fetch(&area->sync_asked, 1, __ATOMIC_SEQ_CST);
	uint64_t began = 0;

	reader_wake();
	for (;;) {
		/* Pairs with the reader's release: its row is out. */
		uint32_t done =
			__atomic_load_n(&area->sync_done, __ATOMIC_ACQUIRE);
		uint64_t mark = 1ull << 32 | done;

		if ((int32_t)(done - ticket) >= 0 ||
		    __atomic_load_n(&gave_up_at, __ATOMIC_RELAXED) == mark)
			return;
		if (!reader_wait(&area->sync_done, done, &began)) {
			if (state_is_on(state_now()))
				__atomic_store_n(&gave_up_at, mark,
						 __ATOMIC_RELAXED);
			return;
		}
	}
}

void sync_event(uint64_t callee, uint64_t caller, enum cst_kind kind)
{
	uint32_t mode = __atomic_load_n(&state_page.mode, __ATOMIC_RELAXED);

	if (mode == CST_MODE_BREAKPOINT)
		sync_breakpoint(callee, caller, kind);
	else if (mode == CST_MODE_HANDSHAKE)
		sync_handshake();
}
