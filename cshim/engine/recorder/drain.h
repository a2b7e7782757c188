/* SPDX-License-Identifier: MIT
 *
 * One round of the reader: the records that wait are consumed and become calls.
 */
#ifndef ENGINE_DRAIN_H
#define ENGINE_DRAIN_H

#include "recorder/recorder.h"

/* The result of a round that consumed nothing because names are wanted first;
 * otherwise it is how many records it consumed. */
enum { ROUND_NAMES = -1 };

/* Consumes the records that there are; the caller holds the lock.  It reads
 * complete chunks, and with peek also the complete records of open ones. */
int recorder_round(struct cst_recorder *r, int peek);

/* Returns whether rows are held back: gdb shows its prompt, and other processes
 * go on.  Their rows, on the same terminal, come with the next command that
 * draws, or when the program goes on.  Till then the records stay where they
 * are, unless a writer waits. */
int recorder_is_held(const struct cst_recorder *r);

/* Sets the trace's time 0 to its first record, made at this tick: the time that
 * gdb took to load libraries, and the stops before, are left out as one
 * pause. */
void recorder_begin_at(struct cst_recorder *r, uint64_t time);

#endif
