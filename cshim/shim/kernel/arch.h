/* SPDX-License-Identifier: MIT
 *
 * Includes the header for the processor that the shim is compiled for.
 */
#ifndef SHIM_ARCH_H
#define SHIM_ARCH_H

#if defined(__x86_64__) && !defined(__ILP32__)
#include "kernel/x86_64.h"
#else
#error "cstrace has no header for this processor yet: see x86_64.h"
#endif

#endif
