/* SPDX-License-Identifier: MIT
 *
 * A call by its thread and number, found without going through what lies
 * before it: most blocks tell the numbers of their calls.
 */
#ifndef ENGINE_LOCATE_H
#define ENGINE_LOCATE_H

#include "trace/callid.h"

/* 1: there is such a call, it starts at *tick and is of *site (which may be
 * NULL); 0: there is none.  thread is the index of the ID's. */
int locate_call(const struct cst_trace *t, const struct callid *id,
		uint32_t thread, uint64_t *tick, uint32_t *site,
		struct cst_error *err);

/* How many calls the thread made, those open before the trace left out. */
int64_t locate_count(const struct cst_trace *t, uint32_t thread,
		     struct cst_error *err);

#endif
