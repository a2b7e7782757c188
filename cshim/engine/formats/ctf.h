/* SPDX-License-Identifier: MIT
 *
 * Writes a trace as a CTF 1.8 folder, with the events, fields and contexts that
 * LTTng-UST's cyg-profile and state dump have: babeltrace2 and Trace Compass
 * read it.
 */
#ifndef ENGINE_CTF_H
#define ENGINE_CTF_H

#include "formats/folder.h"
#include "trace/loader.h"

/* Writes the files of the folder, which the caller has opened and commits.
 * Ignores last, around and at of the choice.  Returns the number of calls, or a
 * negative status. */
int64_t ctf_write(const struct cst_trace *t, const struct cst_choice *choice,
		  struct folder *folder, struct cst_error *err);

#endif
