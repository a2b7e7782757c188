/* SPDX-License-Identifier: MIT
 *
 * What is to be copied at the hooks of a file, found out at the first call in
 * it, while the program waits anyway: so the first calls of its other functions
 * do not wait, and the durations around them are true.
 */
#ifndef ENGINE_AHEAD_H
#define ENGINE_AHEAD_H

#include "sites/sites.h"

/* Looks ahead in the file that the site's hook is in, unless that was done, for
 * a quarter of a second at most.  What is not found out then is found out at
 * its first call. */
void ahead_look(struct sites *s, const struct cst_site *site);

/* Does so in all files of the process with this index in the area that are
 * patched. */
void ahead_look_patched(struct sites *s, uint32_t process);

/* Looks ahead in all files that the program has mapped, for so long at most:
 * nobody will be there at the first calls. */
void ahead_look_all(struct sites *s, uint32_t most_ms);

/* Forgets what was found out: something else is wanted. */
void ahead_forget(struct sites *s);

#endif
