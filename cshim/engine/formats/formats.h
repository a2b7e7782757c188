/* SPDX-License-Identifier: MIT
 *
 * The formats that a trace is saved in, by name and by a file's ending.
 */
#ifndef ENGINE_FORMATS_H
#define ENGINE_FORMATS_H

#include "trace/loader.h"

struct format;

/* The format of this name, or of path's ending where name is NULL.  NULL: told
 * in err. */
const struct format *formats_find(const char *path, const char *name,
				  struct cst_error *err);

/* Returns the number of calls; negative too where write ended it. */
int64_t format_write(const struct format *f, const struct cst_trace *t,
		     const struct cst_look *look,
		     const struct cst_choice *choice, cst_write_fn write,
		     void *arg, struct cst_error *err);

/* Make path. Returns the number of calls. */
int64_t format_save(const struct format *f, struct cst_trace *t,
		    const char *path, const struct cst_look *look,
		    const struct cst_choice *choice, struct cst_error *err);

#endif
