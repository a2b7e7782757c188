/* SPDX-License-Identifier: MIT
 *
 * A call's number as users see and type it: "T.N", "T.sN" for one that was
 * open before the trace, with "P:" before it in processes from the second on.
 */
#ifndef ENGINE_CALLID_H
#define ENGINE_CALLID_H

#include "trace/loader.h"

struct callid {
	uint32_t process, thread; /* ordinals */
	uint64_t number;
	int is_seed;
};

enum { CALLID_MAX = 48 };

/* Writes an ID at p, without a NUL, and returns the place behind it.  process
 * and thread are ordinals.  An ID takes at most CALLID_MAX bytes. */
char *callid_put_numbers(char *p, uint32_t process, uint32_t thread,
			 uint64_t number, int is_seed);
/* Writes what the IDs of a thread begin with, "2.". */
char *callid_put_thread(char *p, uint32_t process, uint32_t thread);
/* Writes the ID of a call of that thread. */
char *callid_put(char *p, const struct trace_thread *thread, uint64_t number,
		 int is_seed);
/* Reads an ID. Returns 0, or CST_BAD_INPUT if the text is none. */
int callid_parse(const char *text, struct callid *out, struct cst_error *err);
/* Finds the index of the ID's thread.  Returns 0, or CST_BAD_INPUT if the trace
 * has no such thread. */
int callid_thread(const struct cst_trace *t, const struct callid *id,
		  uint32_t *out, struct cst_error *err);

#endif
