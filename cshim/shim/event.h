/* SPDX-License-Identifier: MIT
 *
 * One event, and how it becomes a record.
 */
#ifndef SHIM_EVENT_H
#define SHIM_EVENT_H

#include "cstrace/record.h"

static inline void record_write(struct cst_record *r, uint64_t time,
				uint32_t site, uint64_t sp, uint64_t fp)
{
	r->site_and_sp = (uint64_t)site << 32 | (uint32_t)sp;
	r->sp_and_fp = sp >> 32 << 48 | (fp & 0xffffffffffffull);
	/* Pairs with the reader's acquire: a record with a time is whole. */
	__atomic_store_n(&r->time, time, __ATOMIC_RELEASE);
}

/* What a hook leaves to others: the state is not plainly "on", the site is
 * new, the chunk is full.  Async-signal-safe. */
void event_slow(uint64_t callee, uint64_t caller, uint64_t hook, uint64_t sp,
		uint64_t fp, enum cst_kind kind);

#endif
