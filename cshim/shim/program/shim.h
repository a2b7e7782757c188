/* SPDX-License-Identifier: MIT
 *
 * The table that programs find the shim by.
 */
#ifndef SHIM_SHIM_H
#define SHIM_SHIM_H

#include "cstrace/cstrace.h"
#include "kernel/state.h"

extern EXPORT const struct cstrace_shim cstrace_shim;

#endif
