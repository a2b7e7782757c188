/* SPDX-License-Identifier: MIT
 *
 * The list of a function's calls: a row for each of them.
 */
#ifndef ENGINE_CALL_LIST_H
#define ENGINE_CALL_LIST_H

#include "trace/loader.h"

/* Passes the list of the choice's calls to write.  Returns the number of rows,
 * or a negative status. */
int64_t call_list_write(const struct cst_trace *t,
			const struct cst_calls *calls,
			const struct cst_look *look,
			const struct cst_choice *choice, cst_write_fn write,
			void *arg, struct cst_error *err);

#endif
