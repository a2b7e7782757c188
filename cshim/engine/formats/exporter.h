/* SPDX-License-Identifier: MIT
 *
 * What formats that write call after call have in common: the calls come from
 * here, and their text goes on from here.
 */
#ifndef ENGINE_EXPORTER_H
#define ENGINE_EXPORTER_H

#include "base/bytes.h"
#include "trace/loader.h"
#include "trace/view.h"

/* x is the format's own.  Negative: out of memory. */
struct exporter {
	uint8_t is_by_lane; /* lane after lane, not all in order of time */
	/* Only what last, around and at of the choice show, not all. */
	uint8_t has_window;
	void (*begin)(void *x, struct bytes *out); /* or NULL */
	/* The call is the format's to change. */
	int (*call)(void *x, struct shown *call, struct bytes *out);
	int (*end)(void *x, struct bytes *out); /* or NULL */
};

/* Returns the number of calls. */
int64_t exporter_run(const struct exporter *e, void *x,
		     const struct cst_trace *t, const struct cst_choice *choice,
		     cst_write_fn write, void *arg, struct cst_error *err);

#endif
