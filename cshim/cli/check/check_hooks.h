/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds where a file's code calls the two hooks.  The bytes of other
 * instructions can look like a call, but hardly ever like one that leads
 * exactly there.
 */
#ifndef CLI_CHECK_HOOKS_H
#define CLI_CHECK_HOOKS_H

#include "check/check_file.h"

struct hook_site {
	uint64_t addr; /* of the call instruction */
	int is_exit;
};

struct hook_sites {
	struct hook_site *all; /* by address */
	uint32_t n, capacity;
	uint32_t n_enter;
};

/* Finds the calls in f.  Returns 1, or 0 when out of memory; release s in any
 * case. */
int hook_sites_init(struct hook_sites *s, const struct check_file *f);
void hook_sites_release(struct hook_sites *s);

/* Returns the index of the first call that is not below addr; may be n. */
uint32_t hook_sites_from(const struct hook_sites *s, uint64_t addr);

#endif
