/* SPDX-License-Identifier: MIT
 *
 * What the program says by cstrace.h: spans, messages, counters, and functions
 * that report themselves.
 */
#ifndef ENGINE_OWN_WORDS_H
#define ENGINE_OWN_WORDS_H

#include "calls/callstack.h"
#include "sites/own_place.h"

/* Handles a record of a site of cstrace.h. */
void own_words_take(struct callstack *c, struct thread *t,
		    const struct cst_record *r, uint32_t number, uint64_t time);

#endif
