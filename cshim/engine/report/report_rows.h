/* SPDX-License-Identifier: MIT
 *
 * The sums of a report and the rows made of them.
 */
#ifndef ENGINE_REPORT_ROWS_H
#define ENGINE_REPORT_ROWS_H

#include "base/bytes.h"
#include "report/report_keys.h"
#include "report/messages.h"
#include "trace/total.h"

/* Appends the rows with their heading to out: totals has one element for each
 * key and one more for what has no caller.  With is_sampled the
 * sums are of samples, and the rows have their columns and order.  Messages (or
 * NULL) have rows of their own below, but not in CSV.  Returns how many
 * rows there are, or a negative status. */
int64_t report_rows_put(const struct total *totals, const struct keys *keys,
			const struct cst_report *report, int is_sampled,
			struct messages *messages, struct bytes *out,
			struct cst_error *err);

#endif
