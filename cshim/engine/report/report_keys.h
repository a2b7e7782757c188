/* SPDX-License-Identifier: MIT
 *
 * Keys: what a report has a row for, a function or a place that calls one.
 * Functions whose rows would read the same are one key; names that several
 * functions have are distinguished by their module or source file.
 */
#ifndef ENGINE_REPORT_KEYS_H
#define ENGINE_REPORT_KEYS_H

#include "base/error.h"
#include "names/names.h"
#include "names/sheet.h"

enum { NO_KEY = UINT32_MAX };

struct key {
	uint32_t function;
	uint32_t site; /* NO_KEY: from anywhere */
	uint8_t shows_module, shows_file;
};

struct cst_trace;

struct keys {
	const struct names *names;
	/* Not NULL: a key is a thread of this trace, by its index. */
	const struct cst_trace *threads_of;
	struct key *all;
	uint32_t n;
	uint32_t *of_function; /* the key of its function, or NULL */
	uint32_t *of_site;
	int how; /* enum cst_names */
};

/* Makes the keys of all functions or call sites.  names is borrowed; how is an
 * enum cst_names.  Returns 0 or CST_MEMORY; release k in any case. */
int report_keys_init(struct keys *k, const struct names *names, int how,
		     enum cst_report_by by, struct cst_error *err);
/* Replaces the keys for functions by keys for t's threads.  t is borrowed.
 * Returns 0, or CST_MEMORY. */
int report_keys_take_threads(struct keys *k, const struct cst_trace *t);

/* Frees the memory of k. */
void report_keys_release(struct keys *k);

/* Writes the key as text, escaped and cut to KEYS_ROOM bytes; returns the place
 * behind it. */
enum { KEYS_ROOM = 6000 };
char *report_keys_put(const struct keys *k, uint32_t key, char *out);

/* Adds the cells that say what the key stands for, which has the columns
 * report_keys_columns(): NULL is behind the last.  The file and line are of the
 * call, so only there with keys by call site.  A key past the last is no
 * caller. */
void report_keys_put_cells(const struct keys *k, uint32_t key,
			   struct sheet *sheet);
const char *const *report_keys_columns(const struct keys *k);

#endif
