/* SPDX-License-Identifier: MIT
 *
 * Addresses of code that the data of an image holds.
 */
#ifndef ENGINE_PLAN_REFERENCES_H
#define ENGINE_PLAN_REFERENCES_H

#include "plan/functions.h"

/* Marks what relocations, symbols and, in an image at fixed addresses, words of
 * its data lead to; and the functions that are of a restartable sequence. */
void references_mark(struct image *im, struct functions *f);

#endif
