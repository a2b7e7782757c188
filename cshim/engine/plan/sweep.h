/* SPDX-License-Identifier: MIT
 *
 * All code of an image is read once, to find what is jumped to: no byte that
 * something may jump to is ever inside of a patch.
 */
#ifndef ENGINE_PLAN_SWEEP_H
#define ENGINE_PLAN_SWEEP_H

#include "plan/functions.h"

/* Sets the marks of the image's code, and what the functions' code says of
 * them.  Returns 0 or CST_MEMORY. */
int sweep(struct image *im, struct functions *f, const struct frames *frames);

#endif
