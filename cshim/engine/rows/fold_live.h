/* SPDX-License-Identifier: MIT
 *
 * Folded rows that are given while the program runs, so a count can grow behind
 * a row that is on the screen: it is given again, at most once a second.  A
 * call that is added as open may be closed later.
 */
#ifndef ENGINE_FOLD_LIVE_H
#define ENGINE_FOLD_LIVE_H

#include "rows/fold.h"

/* Before the first call is added: the rows are a screen's. */
void fold_live(struct fold *f);
/* The end of a call that was added as open: depth, lane and number tell which,
 * duration_ns and end are looked at.  One that is not known gets its row. */
int fold_close(struct fold *f, const struct shown *call, uint64_t cookie);
/* Give the rows of what was added since the last time.  An open call that
 * follows the way that calls have gone there is given only once it is slow;
 * is_stop: all are, and each count that has grown. */
int fold_show(struct fold *f, uint64_t now_ns, int is_stop);
/* Calls were left out: gives all rows that there are; what follows is compared
 * with nothing before it. */
int fold_forget(struct fold *f);

#endif
