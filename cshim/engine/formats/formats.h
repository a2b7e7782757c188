/* SPDX-License-Identifier: MIT
 *
 * The formats that a trace is saved in, by name and by a file's ending.
 */
#ifndef ENGINE_FORMATS_H
#define ENGINE_FORMATS_H

#include "trace/loader.h"

struct format;

/* Returns the format of this name or, if name is NULL, of path's ending; it is
 * static.  Returns NULL if there is none, with the reason in err. */
const struct format *formats_find(const char *path, const char *name,
				  struct cst_error *err);

/* Passes the trace in the format to write(); CST_BAD_INPUT for a folder's.
 * Returns the number of calls (of rows, for text), a negative status, or the
 * negative number by which write() ended it. */
int64_t format_write(const struct format *f, const struct cst_trace *t,
		     const struct cst_look *look,
		     const struct cst_choice *choice, cst_write_fn write,
		     void *arg, struct cst_error *err);

/* Writes the trace in the format to a file or folder at path, in place of what
 * is there: a folder only if cstrace wrote it.  Sets t->status.n_too_deep.
 * Returns what format_write() does. */
int64_t format_save(const struct format *f, struct cst_trace *t,
		    const char *path, const struct cst_look *look,
		    const struct cst_choice *choice, struct cst_error *err);

/* How large a file in the format becomes. */
struct format_size {
	/* A call's bytes, beside its function's names: those for people, and
	 * those with symbols too, so many times; and its depth as often.  All
	 * 0: no call has a part of its own. */
	uint32_t bytes, names, symbols, depth;
	uint32_t most_calls; /* the file has no more than these; 0: all */
};

struct format_size format_size(const struct format *f);

/* Returns whether the format is made of rows, as a terminal shows them. */
int format_has_rows(const struct format *f);

/* Returns whether the format has samples themselves, and does not need them as
 * calls. */
int format_takes_samples(const struct format *f);

#endif
