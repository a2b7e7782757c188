/* SPDX-License-Identifier: MIT
 *
 * Pairs entries with exits: the open calls of each stack, compared by their
 * canonical frame address (CFA), never by depth.
 */
#ifndef ENGINE_CALLSTACK_H
#define ENGINE_CALLSTACK_H

#include "calls/stack.h"

/* Prepares c; sites and pauses are borrowed. */
void callstack_init(struct callstack *c, struct sites *sites,
		    const struct pauses *pauses);
/* Frees all stacks; the threads stay their owner's. */
void callstack_release(struct callstack *c);

/* Consumes n records of a thread, as far as they are complete and their sites
 * are known: have numbers below n_known.  Returns how many were consumed. */
uint32_t callstack_take(struct callstack *c, struct thread *t,
			const struct cst_record *records, uint32_t n,
			uint32_t n_known);

/* Opens a call of the thread that was open when the trace began, at `time`
 * (ticks); the outermost comes first. */
void callstack_seed(struct callstack *c, struct thread *t, uint32_t function,
		    uint32_t call_site, const struct cst_seed *seed,
		    uint64_t time);

/* Sets what is kept from now on: not the calls below so many levels of their
 * stack, nor those that take fewer than so many ticks; 0: all. */
void callstack_keep(struct callstack *c, uint32_t depth, uint64_t ticks);
/* Keeps the calls that are open, however short they are so far. */
void callstack_keep_open(struct callstack *c);

struct frame;

/* Opens a call of a function that reports itself; v may be NULL. */
void callstack_call(struct callstack *c, struct thread *t,
		    const struct frame *f, const struct values *v);

/* Returns the canonical frame address that an event's record leads to. */
static inline uint64_t callstack_cfa(const struct site *site,
				     const struct cst_record *r)
{
	uint64_t at = site->is_cfa_of_fp && !cst_record_has_numbers(r)
			      ? cst_record_fp(r)
			      : cst_record_frame(r);

	return at + (uint64_t)(int64_t)site->cfa_offset;
}

/* Does the same for a record without numbers. */
static inline uint64_t callstack_plain_cfa(const struct site *site,
					   const struct cst_record *r)
{
	uint64_t at = site->is_cfa_of_fp ? cst_record_fp(r) : cst_record_sp(r);

	return at + (uint64_t)(int64_t)site->cfa_offset;
}

/* Returns how many calls are open. */
uint64_t callstack_n_open(const struct callstack *c);

#endif
