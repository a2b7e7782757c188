/* SPDX-License-Identifier: MIT
 *
 * One trace of a recorder: what its file gets, and when.
 */
#ifndef ENGINE_ONE_TRACE_H
#define ENGINE_ONE_TRACE_H

#include "recorder/recorder.h"

/* Passes the object files that are in use, or all, to the writer. */
void recorder_tell_modules(struct cst_recorder *r, int all);

/* Writes what there is to the file, from time to time: if this process is
 * killed the file has the calls up to then. */
void recorder_keep(struct cst_recorder *r);

/* Returns what the trace under way lacks. */
struct cst_losses recorder_losses(const struct cst_recorder *r);

/* Drops the trace's calls and threads, but not the sites. */
void recorder_forget(struct cst_recorder *r);

#endif
