/* SPDX-License-Identifier: MIT
 *
 * The records of a NAMES block, as they are written (contents.c reads them).
 */
#ifndef ENGINE_RECORDS_H
#define ENGINE_RECORDS_H

#include "bytes.h"
#include "names.h"

void records_put_function(struct bytes *out, const struct names *n,
			  uint32_t id);
void records_put_site(struct bytes *out, const struct names *n, uint32_t id);

#endif
