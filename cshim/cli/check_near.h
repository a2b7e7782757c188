/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names that somebody may have meant.
 */
#ifndef CLI_CHECK_NEAR_H
#define CLI_CHECK_NEAR_H

#include "check_code.h"

enum { N_NEAR = 3 };

struct check_near {
	char *names[N_NEAR]; /* the nearest first; NULL: no more */
	unsigned distances[N_NEAR];
};

/* Functions of the file with a name much like that. */
void check_near_find(struct check_near *out, const struct check_code *c,
		     const char *name);
void check_near_release(struct check_near *n);

#endif
