/* SPDX-License-Identifier: MIT
 *
 * Finds the function that each call site is in: a trace does not say it, but
 * its calls show it.
 */
#ifndef ENGINE_SITE_CALLER_H
#define ENGINE_SITE_CALLER_H

#include "trace/loader.h"

enum { NO_ORIGIN = UINT32_MAX };

/* Fills out[site], for each site, with the number of the function that made the
 * first call from there, or NO_ORIGIN. Returns 0 or a negative status. */
int site_caller_find(const struct cst_trace *t, uint32_t *out,
		     struct cst_error *err);

#endif
