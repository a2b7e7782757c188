/* SPDX-License-Identifier: MIT
 *
 * One round of the reader: the records that wait are taken and become calls.
 */
#ifndef ENGINE_DRAIN_H
#define ENGINE_DRAIN_H

#include "recorder/recorder.h"

/* What a round came to, or how many records it took. */
enum { ROUND_NAMES = -1 };

/* Take what there is, under the lock: whole chunks, with peek also what is
 * whole in the open ones. */
int recorder_round(struct cst_recorder *r, int peek);

/* gdb shows its prompt, and other processes go on: their rows, on the same
 * terminal, come with the next command that draws, or when the program goes
 * on.  Till then the records stay where they are, unless a writer waits. */
int recorder_is_held(const struct cst_recorder *r);

/* The trace's time 0 is its first record, made at this tick: what gdb took to
 * load libraries, and stops before, are left out as one pause. */
void recorder_begin_at(struct cst_recorder *r, uint64_t time);

#endif
