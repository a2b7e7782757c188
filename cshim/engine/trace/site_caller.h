/* SPDX-License-Identifier: MIT
 *
 * In which function each call site is: a trace does not say, its calls do.
 */
#ifndef ENGINE_SITE_CALLER_H
#define ENGINE_SITE_CALLER_H

#include "trace/loader.h"

enum { NO_ORIGIN = UINT32_MAX };

/* Fill out[site] with the number of the function that the first call from
 * there was made in, or NO_ORIGIN. */
int site_caller_find(const struct cst_trace *t, uint32_t *out,
		     struct cst_error *err);

#endif
