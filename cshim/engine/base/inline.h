/* SPDX-License-Identifier: MIT
 *
 * Hints to the compiler for code that each record takes: which function
 * becomes a part of its callers, and which way a branch rarely goes.
 */
#ifndef ENGINE_INLINE_H
#define ENGINE_INLINE_H

#define INLINE static inline __attribute__((always_inline))
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
