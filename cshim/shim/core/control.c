/* SPDX-License-Identifier: MIT
 *
 * The words that gdb pokes, and obeying them.  A failure is an answer for gdb
 * to read and the state "off": the program is never spoken to or stopped.
 */
#include <errno.h>
#include "core/control.h"
#include "core/area.h"
#include "core/depth.h"
#include "core/flight.h"
#include "core/mappings.h"
#include "core/process.h"
#include "core/signals.h"
#include "core/site.h"
#include "core/stops.h"
#include "core/thread.h"
#include "core/watch.h"
#include "cstrace/cstrace.h"
#include "kernel/config.h"
#include "kernel/lock.h"
#include "kernel/state.h"
#include "kernel/symbols.h"
#include "kernel/syscall.h"

/* Used by its hidden name in here: the dynamic linker has no say in where it
 * is. */
HIDDEN struct cst_control control = {.magic = CST_AREA_MAGIC,
				     .layout = CST_LAYOUT};
extern EXPORT struct cst_control cstrace_control
	__attribute__((alias("control")));

EXPORT const char cstrace_version[] = CST_VERSION;

static uint32_t retire_seen;

static void retire_obey(void)
{
	uint32_t seq = __atomic_load_n(&control.retire_seq, __ATOMIC_ACQUIRE);

	/* If there were several ranges only the last is known: then forget all
	 * sites. */
	if (seq == retire_seen + 1)
		site_table_retire(control.retire_start, control.retire_end);
	else if (seq != retire_seen)
		site_table_retire(0, UINT64_MAX);
	retire_seen = seq;
}

/* A child has it from its parent, whose sandbox may not let us ask again.  0,
 * or a positive errno. */
static int state_wipe_on_fork(void)
{
	static int is_done;
	int error = is_done ? 0
			    : -sys_madvise(&state_page, sizeof(state_page),
					   MADV_WIPEONFORK);

	is_done = !error;
	return error;
}

/* Whatever "on" needs.  0, or a positive errno. */
static int area_prepare(void)
{
	int error = state_wipe_on_fork();

	if (!error)
		error = area_map(control.area_path, (int)control.is_file);
	/* At once: a process that has the area and is not entered passes for
	 * the program that it was before an exec. */
	if (!error)
		error = process_register();
	if (!error)
		area_touch();
	if (!error)
		flight_wait_ahead();
	return error;
}

/* The new state; sets *error.  Under the lock. */
static uint32_t control_answer(int32_t *error)
{
	uint32_t mode;

	config_read(&control, config_environment());
	mode = __atomic_load_n(&control.mode, __ATOMIC_ACQUIRE);
	*error = 0;
	if (control.magic != CST_AREA_MAGIC || control.layout != CST_LAYOUT ||
	    mode > CST_MODE_HANDSHAKE) {
		*error = EPROTO;
		return CST_STATE_OFF;
	}
	retire_obey();
	stops_obey();
	if (mode == CST_MODE_OFF || !control.area_path[0])
		return CST_STATE_OFF;
	*error = area_prepare();
	if (*error)
		return CST_STATE_OFF;
	/* Before anybody sees "on": a fork child's cursor is its parent's. */
	thread_renew(&self);
	__atomic_store_n(&state_page.mode, mode, __ATOMIC_RELAXED);
	if (mode != CST_MODE_RING)
		return CST_STATE_SYNC;
	return depth_is_limited() ? STATE_SHALLOW : CST_STATE_ON;
}

static int state_swap(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&state_page.state, &from, to, 0,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static uint32_t has_ended;

int control_has_ended(void)
{
	return __atomic_load_n(&has_ended, __ATOMIC_RELAXED) != 0;
}

void control_end(void)
{
	uint32_t was;

	__atomic_store_n(&has_ended, 1, __ATOMIC_SEQ_CST);
	was = __atomic_exchange_n(&state_page.state, CST_STATE_OFF,
				  __ATOMIC_SEQ_CST);
	if (state_is_on(was))
		__atomic_fetch_add(&area->n_ended, 1, __ATOMIC_RELAXED);
}

void control_watched(void)
{
	if (control_has_ended())
		return;
	if (watch_any() || stops_any()) {
		state_swap(CST_STATE_ON, CST_STATE_SYNC);
		state_swap(STATE_SHALLOW, CST_STATE_SYNC);
	}
	if (watch_any()) {
		state_swap(CST_STATE_OFF, STATE_LOCAL);
		return;
	}
	state_swap(STATE_LOCAL, CST_STATE_OFF);
	if (stops_any())
		return;
	if (__atomic_load_n(&state_page.mode, __ATOMIC_RELAXED) ==
		    CST_MODE_RING &&
	    !__atomic_load_n(&state_page.has_guests, __ATOMIC_SEQ_CST))
		state_swap(CST_STATE_SYNC,
			   depth_is_limited() ? STATE_SHALLOW : CST_STATE_ON);
}

void control_ask(void)
{
	state_swap(CST_STATE_SYNC, CST_STATE_ASK);
}

static uint32_t is_paused;

int control_pause(int pauses)
{
	__atomic_store_n(&is_paused, pauses != 0, __ATOMIC_SEQ_CST);
	if (pauses) {
		depth_forget();
		state_swap(CST_STATE_ON, CST_STATE_OFF);
		state_swap(STATE_SHALLOW, CST_STATE_OFF);
		state_swap(CST_STATE_SYNC, CST_STATE_OFF);
		control_watched();
	} else if (state_swap(CST_STATE_OFF, CST_STATE_ASK) ||
		   state_swap(STATE_LOCAL, CST_STATE_ASK)) {
		control_obey();
	}
	return state_is_on(state_now());
}

int control_is_too_early(void)
{
	static uint32_t is_late;

	if (!is_late && has_thread_data())
		is_late = 1;
	return !is_late;
}

COLD uint32_t control_obey(void)
{
	uint64_t mask;
	uint32_t state;

	if (control_is_too_early() || self.busy_sp)
		return CST_STATE_OFF;
	if (control_has_ended()) {
		state_swap(CST_STATE_ASK, CST_STATE_OFF);
		return CST_STATE_OFF;
	}
	mask = signals_block();
	lock_take();
	while (state_swap(CST_STATE_ASK, STATE_ANSWERING)) {
		int32_t error;

		state = control_answer(&error);
		if (!state_is_on(state))
			depth_forget();
		control.answer_errno = error;
		state_page.n_answers++;
		__atomic_store_n(&control.answer_state,
				 state == STATE_SHALLOW ? CST_STATE_ON : state,
				 __ATOMIC_RELEASE);
		if (__atomic_load_n(&is_paused, __ATOMIC_SEQ_CST))
			state = CST_STATE_OFF;
		state_swap(STATE_ANSWERING, state);
		/* "Sync" and the ring: the slow way, and no more.  Now, for
		 * guests may have been announced meanwhile. */
		if (__atomic_load_n(&state_page.has_guests, __ATOMIC_SEQ_CST)) {
			state_swap(CST_STATE_ON, CST_STATE_SYNC);
			state_swap(STATE_SHALLOW, CST_STATE_SYNC);
		}
		control_watched();
	}
	state = state_now();
	lock_drop();
	signals_restore(mask);
	if (state_is_on(state))
		flight_begin();
	return state;
}

void control_unloaded(void)
{
	uint64_t mask;

	symbols_forget();
	copy_unloaded();
	if (!area)
		return; /* without a system call, see control_rest() */
	mask = signals_block();
	lock_take();
	mappings_retire();
	lock_drop();
	signals_restore(mask);
}

static int is_wanted(void)
{
	return control.mode != CST_MODE_OFF && control.area_path[0];
}

/* "Off" as by control_obey(), but with no system call, which a sandbox may
 * kill for.  The first event would come to the same. */
static void control_rest(void)
{
	if (!state_swap(CST_STATE_ASK, STATE_ANSWERING))
		return;
	control.answer_state = CST_STATE_OFF;
	state_page.n_answers++;
	state_swap(STATE_ANSWERING, CST_STATE_OFF);
	control_watched();
}

/* gdb has poked before any code ran: map at once, for the program may change
 * its user or root before its first event.  Otherwise make nothing: this may
 * be the shell that gdb starts programs with. */
void control_begin(char **environment)
{
	if (is_wanted()) {
		control_obey();
		return;
	}
	/* The program may change it before its first event. */
	config_read(&control, environment);
	if (!is_wanted())
		control_rest();
}
