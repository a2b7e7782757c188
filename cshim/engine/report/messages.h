/* SPDX-License-Identifier: MIT
 *
 * The messages and counters of a program, summed up for a report: how often
 * each message came (a logpoint's as well), and the last, the smallest and the
 * largest value of each counter.
 */
#ifndef ENGINE_MESSAGES_H
#define ENGINE_MESSAGES_H

#include "names/sheet.h"
#include "names/values.h"
#include "report/report_keys.h"

/* The sum of one key.  Its values are numbers. */
struct message_sum {
	uint64_t n, last_tick;
	uint8_t has_value;
	struct value last, min, max;
	long double least, most; /* min and max, to compare with */
};

/* Zeroed: there are none. */
struct messages {
	const struct keys *keys;
	struct message_sum *sums; /* by key; NULL: none can come */
	uint32_t *order;	  /* the keys that have a row */
	uint32_t n;
	uint8_t has_values;
};

/* Begins to sum up by these keys, which are borrowed.  Returns 0, or
 * CST_MEMORY. */
int messages_init(struct messages *m, const struct keys *keys);
void messages_release(struct messages *m);

/* Counts one of this key, which came at a tick; v is a counter's value, or
 * NULL. */
void messages_take(struct messages *m, uint32_t key, uint64_t tick,
		   const struct value *v);

/* Chooses the rows, the most frequent first: of names that report->regex is
 * found in, not more than its limit.  Returns 0 or a negative status. */
int messages_rank(struct messages *m, const struct cst_report *report,
		  struct cst_error *err);

/* Append the rows to out, with their heading; or as a table of sheet. */
void messages_put_text(const struct messages *m, struct bytes *out);
void messages_put_sheet(const struct messages *m, struct sheet *sheet);

#endif
