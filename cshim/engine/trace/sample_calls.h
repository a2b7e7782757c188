/* SPDX-License-Identifier: MIT
 *
 * Samples as a trace of calls, for all that reads calls: stacks that follow
 * each other on a thread and begin alike are taken for the same calls.  How
 * long such a call was is as true as the samples are; how often it was made is
 * not known.
 */
#ifndef ENGINE_SAMPLE_CALLS_H
#define ENGINE_SAMPLE_CALLS_H

#include "trace/loader.h"

/* Whether a reader is to have the samples and not the calls: there are no
 * calls, or the choice (NULL: none) wants them. */
int sample_calls_wanted(const struct cst_trace *t,
			const struct cst_choice *choice);

/* Returns such a trace, made when it is first wanted; it belongs to t.  NULL:
 * it cannot be made. */
struct cst_trace *sample_calls_of(struct cst_trace *t, struct cst_error *err);

#endif
