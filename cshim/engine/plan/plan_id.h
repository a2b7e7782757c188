/* SPDX-License-Identifier: MIT
 *
 * The id by which the shim looks for the plan of a file that is in memory.
 */
#ifndef ENGINE_PLAN_ID_H
#define ENGINE_PLAN_ID_H

#include "elf/debugfile.h"

/* Writes f's build-id, or if it has none what stands for it
 * (cstrace/plan_layout.h), in hexadecimal digits; "" if there is neither. */
void plan_id(const struct elf_file *f, char out[BUILD_ID_SIZE]);

#endif
