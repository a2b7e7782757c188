/* SPDX-License-Identifier: MIT
 *
 * The page without its data, which `make` bundles and installs beside the
 * engine.
 */
#ifndef ENGINE_HTML_PAGE_H
#define ENGINE_HTML_PAGE_H

#include "base/bytes.h"
#include "base/error.h"

/* Appends the complete file to out.  Returns 0, or a negative status:
 * CST_FAILED if there is none. */
int html_page_read(struct bytes *out, struct cst_error *err);

#endif
