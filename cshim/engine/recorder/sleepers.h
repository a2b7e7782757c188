/* SPDX-License-Identifier: MIT
 *
 * The samples of threads that wait, for the clock on the wall: the sampler
 * interrupts those that run alone, and who waits is looked at from outside.
 */
#ifndef ENGINE_SLEEPERS_H
#define ENGINE_SLEEPERS_H

#include "base/hashmap.h"

#include <stdint.h>

struct sleeper;

struct sleepers {
	struct sleeper *all;
	uint32_t n, cap;
	uint32_t n_looks;
	uint64_t looked_ns; /* the last look */
	uint64_t took_ns,
		last_took_ns; /* how long one takes, and the last did */
};

struct cst_recorder;

/* Looks at all threads of all sampled processes, if it is time to.  Under the
 * lock. */
void sleepers_look(struct cst_recorder *r);
/* A new trace begins: it knows no nodes yet. */
void sleepers_release(struct sleepers *s);

#endif
