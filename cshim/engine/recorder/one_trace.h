/* SPDX-License-Identifier: MIT
 *
 * One trace of a recorder: what its file is told, and when.
 */
#ifndef ENGINE_ONE_TRACE_H
#define ENGINE_ONE_TRACE_H

#include "recorder/recorder.h"

/* Tell the writer of object files: those in use, or all. */
void recorder_tell_modules(struct cst_recorder *r, int all);

/* Now and then: whoever kills us finds in the file what there is by now. */
void recorder_keep(struct cst_recorder *r);

/* Forget the trace's calls and threads, not the sites. */
void recorder_forget(struct cst_recorder *r);

#endif
