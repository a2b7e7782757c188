/* SPDX-License-Identifier: MIT
 *
 * Exporters: what formats that write one call after another have in common.
 * exporter_run() reads the calls and passes the text on; the format makes the
 * text.
 */
#ifndef ENGINE_EXPORTER_H
#define ENGINE_EXPORTER_H

#include "base/bytes.h"
#include "trace/loader.h"
#include "trace/view.h"

/* A format.  Each function gets its data x and appends to out; call() and end()
 * return 0, or CST_MEMORY. */
struct exporter {
	uint8_t is_by_lane; /* lane after lane, not all in order of time */
	/* Write only what last, around and at of the choice show, not all. */
	uint8_t has_window;
	void (*begin)(void *x, struct bytes *out); /* or NULL */
	/* Appends a call, which the format may change. */
	int (*call)(void *x, struct shown *call, struct bytes *out);
	int (*end)(void *x, struct bytes *out); /* or NULL */
};

/* Passes the calls of the choice, as e's text, to write().  e's functions may
 * run on another thread than write(), which runs on the caller's.  Returns the
 * number of calls, a negative status, or the negative number by which write()
 * ended it.
 * */
int64_t exporter_run(const struct exporter *e, void *x,
		     const struct cst_trace *t, const struct cst_choice *choice,
		     cst_write_fn write, void *arg, struct cst_error *err);

#endif
