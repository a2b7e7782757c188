/* SPDX-License-Identifier: MIT
 *
 * A trace as a CTF 1.8 folder, with the events, fields and contexts that
 * LTTng-UST's cyg-profile and state dump have: babeltrace2 and Trace Compass
 * read it.
 */
#ifndef ENGINE_CTF_H
#define ENGINE_CTF_H

#include "formats/folder.h"
#include "trace/loader.h"

/* Returns the number of calls. last and around of the choice do not count. */
int64_t ctf_write(const struct cst_trace *t, const struct cst_choice *choice,
		  struct folder *folder, struct cst_error *err);

#endif
