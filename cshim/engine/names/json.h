/* SPDX-License-Identifier: MIT
 *
 * Text inside JSON.
 */
#ifndef ENGINE_JSON_H
#define ENGINE_JSON_H

#include "base/bytes.h"

/* Appends text, escaped, as it stands between the quotes; bytes that are not
 * UTF-8 become U+FFFD. */
void json_put_text(struct bytes *out, const char *text);
/* Appends text with its quotes, or null for NULL. */
void json_put_string(struct bytes *out, const char *text);

#endif
