/* SPDX-License-Identifier: MIT
 *
 * Finds a call by its thread and number without reading what lies before it:
 * most blocks say the numbers of their calls.
 */
#ifndef ENGINE_LOCATE_H
#define ENGINE_LOCATE_H

#include "trace/callid.h"

/* Looks for the call with this ID, whose thread has that index.  Returns 1 with
 * its start in *tick and its site in *site (which may be NULL); 0 if there is
 * no such call; or a negative status. */
int locate_call(const struct cst_trace *t, const struct callid *id,
		uint32_t thread, uint64_t *tick, uint32_t *site,
		struct cst_error *err);

/* Sets *site to that of the call with the ID of this text, "1.42".  Returns 0
 * or a negative status, CST_BAD_INPUT: there is no such call. */
int locate_id(const struct cst_trace *t, const char *text, uint32_t *site,
	      struct cst_error *err);

/* Returns how many calls the thread made, without those open before the trace;
 * or a negative status. */
int64_t locate_count(const struct cst_trace *t, uint32_t thread,
		     struct cst_error *err);

#endif
