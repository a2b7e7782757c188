/* SPDX-License-Identifier: MIT
 *
 * Claiming chunks and handing them over.  Signals are blocked while the
 * cursor is swapped, not while the thread waits: a handler that runs then
 * claims for itself, and the waiter finds its chunk.
 */
#include "core/chunk.h"
#include "core/area.h"
#include "core/depth.h"
#include "core/file.h"
#include "core/flight.h"
#include "core/raw_clone.h"
#include "core/reader.h"
#include "core/signals.h"
#include "core/sigstack.h"
#include "core/thread.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

enum claim { CLAIMED, NOT_OURS, NONE_FREE, IMPOSSIBLE };

/* Waited in vain while free_seq was this (| 1 << 32, so that 0 is none):
 * nobody waits again before it moves, so the program is held up once. */
static uint64_t gave_up_at;

/* Index + 1 of the chunk on top of the free list, taken off, or 0. */
static uint32_t free_take(void)
{
	uint64_t head = __atomic_load_n(&area->free_head, __ATOMIC_ACQUIRE);
	uint64_t next;

	do {
		uint32_t first = (uint32_t)head;

		if (!first || first > CST_MAX_CHUNKS)
			return 0;
		next = ((head >> 32) + 1) << 32 |
		       __atomic_load_n(&area_chunk(first - 1)->next,
				       __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(&area->free_head, &head, next, 0,
					      __ATOMIC_ACQUIRE,
					      __ATOMIC_ACQUIRE));
	return (uint32_t)head;
}

/* One that we can map.  The others stay off the list: on top of it they would
 * hide those that we have. */
static uint32_t free_pop(void)
{
	uint32_t taken = free_take();

	while (taken && !area_has_chunk(taken - 1))
		taken = free_take();
	return taken;
}

/* How many slots of the chunk under the cursor were taken. */
static uint32_t slots_taken(const struct self *me)
{
	return cursor_is_full(me->cursor)
		       ? CST_CHUNK_RECORDS
		       : (uint32_t)(me->cursor % CST_CHUNK_SIZE) /
				 CST_RECORD_SIZE;
}

void chunk_forget_waiting(void)
{
	gave_up_at = 0;
}

void chunk_hand_over(struct self *me)
{
	if (me->chunk) {
		struct cst_chunk *c = area_chunk(me->chunk - 1);

		/* An interrupted hook may still have to fill the last. */
		__atomic_store_n(&c->next, slots_taken(me), __ATOMIC_RELAXED);
		/* Pairs with the reader's acquire: all slots were taken
		 * before. */
		__atomic_store_n(&c->state, CST_CHUNK_FULL, __ATOMIC_RELEASE);
	}
	me->chunk = 0;
	me->cursor = CURSOR_FULL;
}

static void chunk_open(struct self *me, uint32_t index)
{
	struct cst_chunk *c = area_chunk(index);

	__atomic_store_n(&c->thread, me->thread - 1, __ATOMIC_RELAXED);
	__atomic_store_n(&c->seq, thread_claimed(me), __ATOMIC_RELAXED);
	__atomic_store_n(&c->next, 0, __ATOMIC_RELAXED);
	/* Pairs with the reader's acquire: an open chunk has its owner. */
	__atomic_store_n(&c->state, CST_CHUNK_OPEN, __ATOMIC_RELEASE);
	me->chunk = index + 1;
	me->marked_at = 0; /* the place is another's now */
	me->cursor = (uint64_t)area_at(CST_AT_CHUNKS) +
		     (uint64_t)index * CST_CHUNK_SIZE;
	sigstack_tell_again(me);
}

static enum claim claim_blocked(struct self *me)
{
	uint32_t taken;

	thread_renew(me);
	if (!cursor_is_full(me->cursor))
		return CLAIMED; /* by a handler, a moment ago */
	if (guest_is_unannounced(me)) {
		guests_expect();
		area_count(&area->n_lost_threads); /* at least */
		return NOT_OURS;
	}
	chunk_hand_over(me);
	if (!me->thread && thread_register(me) < 0)
		return IMPOSSIBLE;
	taken = area->flight_chunks ? flight_chunk()
		: area->is_file	    ? file_chunk()
				    : free_pop();
	if (!taken)
		return NONE_FREE;
	chunk_open(me, taken - 1);
	depth_heed();
	return CLAIMED;
}

static enum claim claim(struct self *me)
{
	uint64_t mask = signals_block();
	enum claim result = claim_blocked(me);

	signals_restore(mask);
	return result;
}

/* The caller has shown itself in n_waiting before free_seq is read: a reader
 * that gives a chunk back after this wakes somebody. */
static enum claim claim_patiently(struct self *me)
{
	uint64_t began = 0;

	for (;;) {
		uint32_t seq =
			__atomic_load_n(&area->free_seq, __ATOMIC_SEQ_CST);
		uint64_t mark = 1ull << 32 | seq;
		enum claim result = claim(me);

		if (result != NONE_FREE)
			return result;
		if (area->is_file) /* no more will come */
			__atomic_store_n(&gave_up_at, mark, __ATOMIC_RELAXED);
		if (__atomic_load_n(&gave_up_at, __ATOMIC_RELAXED) == mark)
			return NONE_FREE;
		if (!began)
			area_count(&area->n_waits);
		reader_wake();
		if (!reader_wait(&area->free_seq, seq, &began)) {
			if (state_is_on(state_now()))
				__atomic_store_n(&gave_up_at, mark,
						 __ATOMIC_RELAXED);
			return NONE_FREE;
		}
	}
}

static int chunk_renew(struct self *me)
{
	enum claim result;

	if (me->chunk)
		flight_ask(0);
	result = claim(me);
	if (result == NONE_FREE && flight_ask(1))
		result = claim(me);
	if (result == NONE_FREE) {
		__atomic_fetch_add(&area->n_waiting, 1, __ATOMIC_SEQ_CST);
		result = claim_patiently(me);
		__atomic_fetch_sub(&area->n_waiting, 1, __ATOMIC_SEQ_CST);
		if (result == NONE_FREE)
			area_count(&area->n_lost_full);
	}
	return result == CLAIMED || result == NOT_OURS ? 0 : -1;
}

/* While a stopped reader's records are being lost, a loss must not cost the
 * system calls of a claim.  The steps behind the chunk's last slot are taken
 * back (the hook's own and ours: there is room for a few only); where a handler
 * has moved the cursor since, the long way is taken. */
static int is_lost_at_once(struct self *me, uint64_t slot)
{
	uint64_t seq = __atomic_load_n(&area->free_seq, __ATOMIC_RELAXED);
	uint64_t left = slot + CST_RECORD_SIZE;
	uint64_t full = (slot & -(uint64_t)CST_CHUNK_SIZE) + CURSOR_FULL;

	/* A chunk that is full must be handed over, whatever comes then. */
	if (me->chunk ||
	    __atomic_load_n(&gave_up_at, __ATOMIC_RELAXED) !=
		    (1ull << 32 | seq) ||
	    !__atomic_compare_exchange_n(&me->cursor, &left, full, 0,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return 0;
	area_count(&area->n_lost_full);
	return 1;
}

int chunk_is_busy(void)
{
	if (likely(!self.busy_sp))
		return 0;
	/* The steps that its hooks took behind the chunk's last slot. */
	if (cursor_is_full(self.cursor))
		self.cursor =
			(self.cursor & -(uint64_t)CST_CHUNK_SIZE) + CURSOR_FULL;
	area_count(&area->n_lost_full);
	return 1;
}

COLD struct cst_record *chunk_slot(void)
{
	for (;;) {
		struct self *me = self_now();
		uint64_t slot;

		if (!me)
			return NULL;
		slot = cursor_take(&me->cursor, CST_RECORD_SIZE);
		if (!cursor_is_full(slot))
			return (struct cst_record *)slot;
		if (is_lost_at_once(me, slot))
			return NULL;
		if (chunk_renew(me) < 0)
			return NULL;
	}
}

/* Slots at a chunk's end that nothing else is put into: each repeats what the
 * reader knows. */
static void fill(struct self *me, uint64_t slot, uint64_t end)
{
	for (; slot < end; slot += CST_RECORD_SIZE)
		cst_record_set((struct cst_record *)slot, clock_ticks(),
			       CST_QUIET, me->quiet_sp, 0);
}

COLD struct cst_record *chunk_slots(uint32_t n)
{
	uint64_t size = (uint64_t)n * CST_RECORD_SIZE;

	for (;;) {
		struct self *me = self_now();
		uint64_t slot, end;

		if (!me)
			return NULL;
		slot = __atomic_load_n(&me->cursor, __ATOMIC_RELAXED);
		if (cursor_is_full(slot)) {
			struct cst_record *r = chunk_slot();

			if (!r)
				return NULL;
			fill(me, (uint64_t)r, (uint64_t)r + CST_RECORD_SIZE);
			continue;
		}
		end = (slot & -(uint64_t)CST_CHUNK_SIZE) + CURSOR_FULL;
		if (slot + size <= end) {
			if (cursor_step(&me->cursor, slot, slot + size))
				return (struct cst_record *)slot;
		} else if (cursor_step(&me->cursor, slot, end)) {
			fill(me, slot, end);
		}
	}
}
