/* SPDX-License-Identifier: MIT
 *
 * Data inside the page: pieces that page/src/data.js reads.  Each is a zstd
 * frame in base64, so that nothing in it can end the element that it is in.
 */
#ifndef ENGINE_HTML_DATA_H
#define ENGINE_HTML_DATA_H

#include "base/bytes.h"

/* Appends raw to out as one piece of this kind, a class of the element. Returns
 * 0, or CST_MEMORY. */
int html_data_put(struct bytes *out, const char *kind, const struct bytes *raw);

/* Appends v, or 2^53 - 1 if it is larger: the page cannot hold more. */
void html_put_number(struct bytes *out, uint64_t v);

#endif
