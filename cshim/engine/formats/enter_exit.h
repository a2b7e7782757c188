/* SPDX-License-Identifier: MIT
 *
 * The calls of a choice as entries and exits, lane after lane, strictly nested
 * and all closed: for formats that have a file for each thread.
 */
#ifndef ENGINE_ENTER_EXIT_H
#define ENGINE_ENTER_EXIT_H

#include "trace/clamp.h"

struct enter_exit;

struct step {
	uint64_t at_ns; /* since the trace began; never less than before */
	uint32_t lane;
	uint32_t function;
	uint32_t depth; /* among the calls that are shown */
	uint8_t is_exit;
	uint8_t end;		  /* enum call_end */
	const struct shown *call; /* of entries; until the next step */
};

/* last and around of the choice are not looked at. t is borrowed. */
int enter_exit_new(const struct cst_trace *t, const struct cst_choice *choice,
		   struct enter_exit **out, struct cst_error *err);
void enter_exit_free(struct enter_exit *s);

/* 1: a step; 0: the end; or negative. */
int enter_exit_next(struct enter_exit *s, struct step *out,
		    struct cst_error *err);

#endif
