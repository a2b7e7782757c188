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

/* Sets in *out what was lost: records, and processes and libraries that are not
 * traced. */
void recorder_losses(const struct cst_recorder *r,
		     struct cst_status_report *out);

/* Drops the trace's calls and threads, but not the sites. */
void recorder_forget(struct cst_recorder *r);

#endif
