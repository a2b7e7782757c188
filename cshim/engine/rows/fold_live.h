/* SPDX-License-Identifier: MIT
 *
 * Folded rows that are given while the program runs, so a count can grow behind
 * a row that is on the screen: it is given again, at most once a second.  A
 * call that is added as open may be closed later.
 */
#ifndef ENGINE_FOLD_LIVE_H
#define ENGINE_FOLD_LIVE_H

#include "rows/fold.h"

/* Makes the rows those of a screen; called before the first call is added. */
void fold_live(struct fold *f);
/* Reports the end of a call that was added as open: depth, lane and number
 * identify it, duration_ns and end are read.  A call that is not known gets its
 * row.  Returns as fold_add() does. */
int fold_close(struct fold *f, const struct shown *call, uint64_t cookie);
/* Passes the rows of what was added since the last time to row(). An open call
 * that goes the way that calls have gone there gets its row only once it is
 * slow.  With is_stop all rows are passed, and each count that has grown.
 * Returns as fold_add() does. */
int fold_show(struct fold *f, uint64_t now_ns, int is_stop);
/* Reports that calls were left out: passes all rows that there are, and
 * compares what follows with nothing before it. */
int fold_forget(struct fold *f);

#endif
