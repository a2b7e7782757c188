/* SPDX-License-Identifier: MIT
 *
 * A thread's entry in the area: made at its first claim, closed by a key's
 * destructor.  Threads that end otherwise are the reader's to find, or ours as
 * the process ends.
 */
#include <errno.h>
#include <pthread.h>
#include "core/thread.h"
#include "core/area.h"
#include "core/chunk.h"
#include "core/control.h"
#include "core/depth.h"
#include "core/open_calls.h"
#include "core/raw_clone.h"
#include "core/signals.h"
#include "core/watch.h"
#include "kernel/lock.h"
#include "kernel/state.h"
#include "kernel/syscall.h"
#include "kernel/task.h"

/* glibc keeps the values of the first keys in the thread itself; behind them
 * pthread_setspecific() calls malloc. */
enum { KEYS_IN_PLACE = 32 };

enum { KEY_NOT_MADE = 0, KEY_MADE = 1, KEY_OF_NO_USE = 2 };

__thread struct self self = {.cursor = CURSOR_FULL};
static pthread_key_t key; /* 0 is a key like any other */
static uint32_t key_state;

/* Which mark tells what was open as this process was made; 0: none.  Where no
 * record came behind it, it does, however that was. */
static uint32_t fork_marked(const struct self *me)
{
	return me->is_forking || me->cursor == me->marked_at ? me->n_forks : 0;
}

/* `me` is the calling thread's, and was its parent's. */
static void thread_forget(struct self *me)
{
	uint32_t guest = guest_that_forked(me->process);

	if (guest || me->thread) {
		me->forked_from = guest ? guest : me->thread;
		me->n_fork = guest ? 0 : fork_marked(me);
	}
	if (me == &self)
		depth_forked();
	me->is_forking = 0;
	me->marked_at = 0;
	me->cursor = CURSOR_FULL;
	me->chunk = 0;
	me->thread = 0;
	me->ordinal = 0;
	me->process = me->home = state_page.process;
	if (!state_page.has_guests)
		me->tid = sys_gettid();
}

void thread_renew(struct self *me)
{
	if (me->process != state_page.process)
		thread_forget(me);
}

static void thread_name(struct cst_thread *t)
{
	union {
		char text[16];
		uint64_t word[2];
	} name = {.word = {0, 0}};
	uint64_t *to = (uint64_t *)t->name;

	sys_thread_name(name.text);
	__atomic_store_n(&to[0], name.word[0], __ATOMIC_RELAXED);
	__atomic_store_n(&to[1], name.word[1], __ATOMIC_RELAXED);
}

/* The main thread's data is elsewhere, a guest's is its maker's, and the first
 * thread of a fork child is on its parent's stack. */
static uint64_t stack_base(const struct self *me, uint32_t tid)
{
	if (me != &self || me->forked_from || state_page.has_guests ||
	    tid == area_process(me->home - 1)->pid)
		return 0;
	return thread_pointer();
}

/* Its number among the threads of its process that have entries. */
static uint32_t ordinals_of, n_ordinals;

static uint32_t next_ordinal(void)
{
	if (__atomic_exchange_n(&ordinals_of, state_page.process,
				__ATOMIC_RELAXED) != state_page.process)
		__atomic_store_n(&n_ordinals, 0, __ATOMIC_RELAXED);
	return __atomic_add_fetch(&n_ordinals, 1, __ATOMIC_RELAXED);
}

void threads_forget(const uint64_t *pointers, uint64_t n)
{
	uint64_t offset = (uint64_t)&self - thread_pointer();

	ordinals_of = 0;
	for (uint64_t i = 0; i < n; i++) {
		struct self *t = (struct self *)(pointers[i] + offset);

		*t = (struct self){
			.cursor = CURSOR_FULL, .tid = t->tid, .open = t->open};
	}
}

int thread_register(struct self *me)
{
	int64_t index = area_draw(&area->n_threads, 0, CST_MAX_THREADS);
	uint32_t tid = sys_gettid();
	struct cst_thread *t;

	if (index < 0 ||
	    area_reserve(area_thread((uint32_t)index), sizeof(*t))) {
		area_count(&area->n_lost_threads);
		return -1;
	}
	t = area_thread((uint32_t)index);
	t->process = me->home - 1;
	t->start = clock_ticks();
	t->forked_from = me->forked_from;
	t->n_fork = me->n_fork;
	t->base = stack_base(me, tid);
	thread_name(t);
	me->thread = (uint32_t)index + 1;
	me->ordinal = next_ordinal();
	/* Pairs with the reader's acquire: a thread with a tid is complete. */
	__atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE);
	return 0;
}

/* 0: the clock is gone. */
static uint64_t end_ticks(void)
{
	return control_has_ended() ? 0 : clock_ticks();
}

static void thread_end(void *unused)
{
	uint64_t mask = signals_block();

	(void)unused;
	if (area)
		thread_renew(&self);
	if (self.thread) {
		/* Most threads get their name after their first call. */
		thread_name(area_thread(self.thread - 1));
		depth_tell();
		chunk_hand_over(&self);
		area_thread(self.thread - 1)->end = end_ticks();
		__atomic_store_n(&area_thread(self.thread - 1)->is_ended, 1,
				 __ATOMIC_RELEASE);
	}
	open_calls_release();
	depth_end();
	signals_restore(mask);
}

/* Has the thread of this process begun to end?  The kernel still answers for a
 * thread that pthread_join() has already waited for, until it has taken it out
 * of its tables: so the flags of a thread that answers are looked at. */
static int thread_is_ending(uint32_t pid, uint32_t tid)
{
	enum { IS_EXITING = 4 };
	struct task t;

	return sys_tgkill(pid, tid, 0) == -ESRCH ||
	       (!task_look(tid, &t) && t.flags & IS_EXITING);
}

/* The process's end, and the other threads', as far as libc knew nothing of
 * them: once the process is over nobody can tell a thread that ended before
 * from one that ended with it. */
__attribute__((destructor)) static void thread_tell_gone(void)
{
	uint32_t process = state_page.process, n;

	if (!area || !process)
		return;
	depth_tell();
	__atomic_store_n(&area_process(process - 1)->end, end_ticks(),
			 __ATOMIC_RELEASE);
	n = __atomic_load_n(&area->n_threads, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < n && i < CST_MAX_THREADS; i++) {
		struct cst_thread *t = area_thread(i);
		uint32_t tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);

		if (!tid || i + 1 == self.thread || t->process != process - 1 ||
		    __atomic_load_n(&t->is_ended, __ATOMIC_RELAXED) ||
		    !thread_is_ending(area_process(process - 1)->pid, tid))
			continue;
		t->end = end_ticks();
		__atomic_store_n(&t->is_ended, 1, __ATOMIC_RELEASE);
	}
}

static void key_make(void)
{
	lock_take();
	if (key_state == KEY_NOT_MADE)
		key_state = pthread_key_create(&key, thread_end) == 0 &&
					    key < KEYS_IN_PLACE
				    ? KEY_MADE
				    : KEY_OF_NO_USE;
	lock_drop();
}

void thread_renamed(void)
{
	if (self.thread && self.process == state_page.process &&
	    self_now() == &self)
		thread_name(area_thread(self.thread - 1));
}

void thread_watch_end(void)
{
	if (key_state == KEY_NOT_MADE)
		key_make();
	if (key_state == KEY_MADE)
		pthread_setspecific(key, &key);
}

/* A system call takes the time of many records, in a virtual machine that of
 * hundreds. */
static int may_ask(struct self *me, uint32_t seq)
{
	enum { FIRST_CHUNKS = 16, MOMENT = 1 << 21 }; /* ticks: 1 ms or less */
	uint64_t now = clock_ticks();

	if (seq >= FIRST_CHUNKS && now - me->asked_at < MOMENT)
		return 0;
	me->asked_at = now;
	return 1;
}

uint32_t thread_claimed(struct self *me)
{
	struct cst_thread *t = area_thread(me->thread - 1);
	uint32_t seq = t->n_claimed;

	me->asks = (uint32_t)may_ask(me, seq);
	if (seq && me->asks)
		thread_name(t);
	/* A later destructor may call hooks after ours has run. */
	__atomic_store_n(&t->is_ended, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&t->n_claimed, seq + 1, __ATOMIC_RELAXED);
	if (me == &self) /* libc has no hold on the end of others */
		thread_watch_end();
	return seq;
}

/* Without a record of ours only gdb may know of open calls: where it has begun
 * in the middle, which is when it asks again.  We may be the first to see its
 * word. */
static int may_have_calls(void)
{
	uint32_t state = state_now();

	if (state == CST_STATE_ASK && state_page.n_answers)
		state = control_obey();
	return state_is_on(state) && !self.busy_sp &&
	       (self.thread || state_page.n_answers > 1);
}

void thread_mark_fork(void)
{
	struct cst_record *r;

	if (!may_have_calls() || self_now() != &self)
		return;
	depth_tell();
	r = chunk_slot();
	if (!r)
		return;
	self.n_forks++;
	cst_record_set(r, clock_ticks(), CST_FORK, self.n_forks, 0);
	self.marked_at = (uint64_t)r + CST_RECORD_SIZE;
}

static void thread_before_fork(void)
{
	uint32_t before = self.n_forks;

	thread_mark_fork();
	self.is_forking = self.n_forks != before;
}

static void thread_has_forked(void)
{
	self.is_forking = 0;
}

/* The page's wiping makes the child's first event ask, but that may come on a
 * thread made by the child while the one that forked holds the parent's
 * cursor still.  Forks that bypass libc are left with the page. */
static void thread_after_fork(void)
{
	thread_forget(&self);
	watch_after_fork();
}

void thread_watch_forks(thread_atfork *atfork)
{
	atfork(thread_before_fork, thread_has_forked, thread_after_fork);
}
