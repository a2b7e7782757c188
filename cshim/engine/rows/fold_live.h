/* SPDX-License-Identifier: MIT
 *
 * Folded rows that are passed on while the program runs.  A count can grow
 * after its row is on the screen: the row is passed again, at most once a
 * second.  A call that is added as open may be closed later.
 */
#ifndef ENGINE_FOLD_LIVE_H
#define ENGINE_FOLD_LIVE_H

#include "rows/fold.h"

/* Makes the rows those of a screen.  Call it before the first fold_add(). */
void fold_live(struct fold *f);

/* Ends a call that was added as open.  depth, lane, thread, number and is_seed
 * identify it; duration_ns, end and n_stops are copied.  A call that is not
 * known gets a row with the cookie.  Returns as fold_add() does. */
int fold_close(struct fold *f, const struct shown *call, uint64_t cookie);

/* Passes the rows of what was added since the last time to row().  An open call
 * that so far does what a row before it shows gets its row only once it is
 * slow. With is_stop all rows are passed, and each count that has grown. now_ns
 * is the time since the trace began.  Returns as fold_add() does. */
int fold_show(struct fold *f, uint64_t now_ns, int is_stop);

/* Passes all rows that there are, because calls after them are missing: what
 * follows is compared with nothing before it.  Returns as fold_add() does. */
int fold_forget(struct fold *f);

#endif
