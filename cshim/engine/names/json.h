/* SPDX-License-Identifier: MIT
 *
 * Text inside JSON.
 */
#ifndef ENGINE_JSON_H
#define ENGINE_JSON_H

#include "base/bytes.h"

/* What stands between the quotes: what is not UTF-8 becomes U+FFFD. */
void json_put_text(struct bytes *out, const char *text);
/* With its quotes; NULL: null. */
void json_put_string(struct bytes *out, const char *text);

#endif
