/* SPDX-License-Identifier: MIT
 *
 * How far the long call that is under way has come, for those who wait for it.
 */
#ifndef ENGINE_PROGRESS_H
#define ENGINE_PROGRESS_H

#include <stdint.h>

/* A call begins that goes through n_calls; 0: nobody knows. */
void progress_begin(uint64_t n_calls);

/* So many more were gone through.  One thread at a time calls it. */
void progress_add(uint32_t n_calls);

#endif
