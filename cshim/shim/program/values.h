/* SPDX-License-Identifier: MIT
 *
 * Values as cstrace.h has them become bytes as the reader wants them (enum
 * cst_value).
 */
#ifndef SHIM_VALUES_H
#define SHIM_VALUES_H

#include "cstrace/cstrace.h"

/* Writes the values into out[CST_VALUES_MAX]; those that have no room are left
 * out.  format is that of a message, or NULL: it may limit its texts.  Returns
 * the number of bytes. */
uint32_t values_put(const struct cstrace_value *values, uint32_t n,
		    const char *format, uint8_t *out);

#endif
