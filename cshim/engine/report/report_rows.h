/* SPDX-License-Identifier: MIT
 *
 * The sums of a report and the rows made of them.
 */
#ifndef ENGINE_REPORT_ROWS_H
#define ENGINE_REPORT_ROWS_H

#include "base/bytes.h"
#include "report/report_keys.h"
#include "trace/total.h"

/* The rows, with their heading: totals has one for each key and one more for
 * what has no caller.  Returns how many there are. */
int64_t report_rows_put(const struct total *totals, const struct keys *keys,
			const struct cst_report *report, struct bytes *out,
			struct cst_error *err);

#endif
