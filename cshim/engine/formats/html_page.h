/* SPDX-License-Identifier: MIT
 *
 * The page without its data, which `make` bundles and installs beside the
 * engine.
 */
#ifndef ENGINE_HTML_PAGE_H
#define ENGINE_HTML_PAGE_H

#include "base/bytes.h"
#include "base/error.h"

/* Appends the complete page to out.  Returns 0, or CST_FAILED, with the reason,
 * if it is not there. */
int html_page_read(struct bytes *out, struct cst_error *err);

#endif
