/* SPDX-License-Identifier: MIT
 *
 * Waiting for the reader without ever hanging on it.  Its robust mutex tells
 * its death: no pid, no permission, no reuse.
 */
#include "core/reader.h"
#include "core/area.h"
#include "core/control.h"
#include "core/depth.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

int reader_has_ended(void)
{
	uint32_t owner = __atomic_load_n((uint32_t *)area->reader_lock,
					 __ATOMIC_RELAXED);

	return (owner & FUTEX_OWNER_DIED) || !(owner & FUTEX_TID_MASK) ||
	       __atomic_load_n(&area->is_ended, __ATOMIC_RELAXED);
}

void reader_wake(void)
{
	uint32_t *sleeps = &area->reader_sleeps;

	if (__atomic_exchange_n(sleeps, 0, __ATOMIC_SEQ_CST) == 1)
		sys_futex_wake(sleeps, FUTEX_WAKE, 1);
}

/* Leaves gdb's own word alone when it was changed meanwhile. */
static void state_turn_off(void)
{
	uint32_t on = state_now();

	depth_forget();
	if (state_is_on(on))
		__atomic_compare_exchange_n(&state_page.state, &on,
					    CST_STATE_OFF, 0, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	control_watched();
}

int reader_wait(uint32_t *word, uint32_t value, uint64_t *began)
{
	uint32_t limit =
		__atomic_load_n(&area->wait_limit_ms, __ATOMIC_RELAXED);
	uint64_t now = sys_monotonic_ms();

	if (!state_is_on(state_now()))
		return 0;
	if (reader_has_ended()) {
		state_turn_off();
		return 0;
	}
	if (!*began)
		*began = now;
	if (now - *began >= limit)
		return 0;
	sys_futex_wait(word, FUTEX_WAIT, value, READER_LOOK_MS);
	return 1;
}
