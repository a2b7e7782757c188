/* SPDX-License-Identifier: MIT
 *
 * What a workload is: some calls that every tool is to see, cut into units
 * that threads can share out.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Do the part of one thread of n_threads: returns something that depends on
 * all of it. */
uint64_t workload(unsigned size, unsigned thread, unsigned n_threads);

/* How many instrumented calls that is; itself not instrumented. */
uint64_t workload_calls(unsigned size, unsigned thread, unsigned n_threads);

#ifdef __cplusplus
}
#endif

#endif
