/* SPDX-License-Identifier: MIT
 *
 * Gives each guest (raw_clone.h) a place of its own, found by its thread
 * number, and notices guests that nobody announced.
 */
#include <errno.h>
#include "core/raw_clone.h"
#include "core/area.h"
#include "core/process.h"
#include "core/signals.h"
#include "kernel/lock.h"
#include "kernel/state.h"
#include "kernel/syscall.h"
#include "kernel/task.h"

enum { MAX_GUESTS = 64 };

/* How long a thread is looked at, and how often: is_held(). */
enum { LOOK_MS = 1, PATIENCE_MS = 2000, RAN_ENOUGH = 3 };

/* The entries of another process were its parent's: they are free. */
static struct self guests[MAX_GUESTS];

static int has_guests(void)
{
	return __atomic_load_n(&state_page.has_guests, __ATOMIC_RELAXED) != 0;
}

/* ---- each guest's own ------------------------------------------------------
 */

/* A guest's number may be another's by now; its chunk is the reader's then. */
static int is_current(const struct self *g)
{
	const struct cst_chunk *c;

	if (g->process != state_page.process)
		return 0;
	if (!g->chunk)
		return 1;
	c = area_chunk(g->chunk - 1);
	return __atomic_load_n(&c->state, __ATOMIC_RELAXED) == CST_CHUNK_OPEN &&
	       __atomic_load_n(&c->thread, __ATOMIC_RELAXED) == g->thread - 1;
}

static struct self *guest_find(uint32_t tid)
{
	for (int i = 0; i < MAX_GUESTS; i++)
		if (__atomic_load_n(&guests[i].tid, __ATOMIC_ACQUIRE) == tid &&
		    is_current(&guests[i]))
			return &guests[i];
	return 0;
}

static int is_free(const struct self *g)
{
	return !g->tid || g->process != state_page.process ||
	       sys_tgkill(area_process(g->home - 1)->pid, g->tid, 0) == -ESRCH;
}

/* The process that the caller is of: one of its own, if it is no thread of
 * this one. */
static uint32_t guest_home(void)
{
	uint32_t pid = sys_getpid();

	if (pid == area_process(state_page.process - 1)->pid)
		return state_page.process;
	for (int i = 0; i < MAX_GUESTS; i++)
		if (!is_free(&guests[i]) &&
		    area_process(guests[i].home - 1)->pid == pid)
			return guests[i].home;
	return process_add(state_page.process);
}

/* Under the lock. */
static struct self *guest_add(uint32_t tid)
{
	for (int i = 0; i < MAX_GUESTS; i++) {
		struct self *g = &guests[i];
		uint32_t home;

		if (g->tid != tid && !is_free(g))
			continue;
		home = guest_home();
		if (!home)
			return 0;
		__atomic_store_n(&g->tid, 0, __ATOMIC_RELAXED);
		*g = (struct self){.cursor = CURSOR_FULL,
				   .process = state_page.process,
				   .home = home};
		/* Pairs with the acquire in guest_find(). */
		__atomic_store_n(&g->tid, tid, __ATOMIC_RELEASE);
		return g;
	}
	area_count(&area->n_lost_threads);
	return 0;
}

static struct self *guest_of(uint32_t tid)
{
	struct self *g = guest_find(tid);
	uint64_t mask;

	if (g)
		return g;
	mask = signals_block();
	lock_take();
	g = guest_find(tid);
	if (!g)
		g = guest_add(tid);
	lock_drop();
	signals_restore(mask);
	return g;
}

static int is_of_process(void)
{
	return sys_getpid() == area_process(state_page.process - 1)->pid;
}

struct self *self_now(void)
{
	uint32_t tid, nobody = 0;

	if (likely(!has_guests()))
		return &self;
	tid = sys_gettid();
	if (__atomic_load_n(&self.tid, __ATOMIC_RELAXED) == tid ||
	    (is_of_process() &&
	     __atomic_compare_exchange_n(&self.tid, &nobody, tid, 0,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
		return &self;
	return guest_of(tid);
}

uint32_t guest_that_forked(uint32_t process)
{
	uint32_t pid;

	if (!area || !process)
		return 0;
	pid = sys_getppid();
	for (int i = 0; i < MAX_GUESTS; i++)
		if (guests[i].thread && guests[i].process == process &&
		    guests[i].home != process &&
		    area_process(guests[i].home - 1)->pid == pid)
			return guests[i].thread;
	return 0;
}

/* ---- knowing of them -------------------------------------------------------
 */

static void state_sync(uint32_t from)
{
	__atomic_compare_exchange_n(&state_page.state, &from, CST_STATE_SYNC, 0,
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* Without a lock or a system call, for it may be that nobody records. */
void guests_expect(void)
{
	/* Before the state: pairs with control_obey(). */
	__atomic_store_n(&state_page.has_guests, 1, __ATOMIC_SEQ_CST);
	state_sync(CST_STATE_ON);
	state_sync(STATE_SHALLOW);
}

/* A vfork child has its parent's thread data to itself: the parent waits in
 * the kernel, in a state of its own.  But the child is awake before its parent
 * waits, which may be late: another process, or the machine below a virtual
 * one, has its processor.  So one that is ready to run is looked at until it
 * waits, or has run at more looks than its way there can take; on that way it
 * may have stopped for a debugger.  True if the state cannot be read: vfork is
 * by far the more common. */
static int is_held(uint32_t tid)
{
	uint64_t since = sys_monotonic_ms();
	struct task before, now;
	uint32_t n_ran = 0, word = 0;

	if (task_look(tid, &before))
		return 1;
	for (now = before; now.state == 'R'; before = now) {
		if (n_ran >= RAN_ENOUGH)
			return 0;
		if (sys_monotonic_ms() - since >= PATIENCE_MS)
			return 1;
		sys_futex_wait(&word, FUTEX_WAIT_PRIVATE, 0, LOOK_MS);
		if (task_look(tid, &now))
			return 1;
		n_ran += now.ticks != before.ticks;
	}
	return now.state == 'D' || now.state == 't' || now.state == 'T';
}

int guest_is_unannounced(const struct self *me)
{
	return me == &self && !has_guests() && me->tid &&
	       me->tid != sys_gettid() && !is_held(me->tid);
}
