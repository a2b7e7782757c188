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
	uint64_t at_ns; /* since the trace began; never less than that of the
			 * lane's step before */
	uint32_t lane;
	uint32_t function;
	uint32_t depth; /* among the calls that are shown */
	uint8_t is_exit;
	uint8_t is_text;	  /* neither: a message, if they are wanted */
	uint8_t end;		  /* enum call_end */
	uint8_t is_stopped;	  /* of an exit: gdb stopped the program
				   * during the call */
	const struct shown *call; /* of an entry or a message; valid until the
				   * next step.  NULL: an exit */
};

/* Makes the steps of t, which is borrowed until enter_exit_free(), which the
 * caller calls for *out; with has_texts those of messages as well.  Ignores
 * last, around and at of the choice.  Returns 0 or a negative status. */
int enter_exit_new(const struct cst_trace *t, const struct cst_choice *choice,
		   int has_texts, struct enter_exit **out,
		   struct cst_error *err);

/* Frees s, which may be NULL. */
void enter_exit_free(struct enter_exit *s);

/* Puts the next step into *out.  Returns 1, 0 at the end, or a negative
 * status. */
int enter_exit_next(struct enter_exit *s, struct step *out,
		    struct cst_error *err);

#endif
