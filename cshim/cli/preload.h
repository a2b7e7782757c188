/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The value that LD_PRELOAD must have for a program to load the shim.
 */
#ifndef CLI_PRELOAD_H
#define CLI_PRELOAD_H

/* Sets *value to the shim's path, with the sampler's behind it if that is
 * wanted, and the user's own entries behind it, and
 * *link to a link to the shim that was made for that, if its own path has a
 * blank or a colon, in a folder that *lock makes ours.  Both are NULL before;
 * the caller frees them in any case, after preload_unlink(*link, *lock).
 * Returns an exit code; a failure was reported. */
int preload_make(const char *program, int with_sampler, char **value,
		 char **link, int *lock);
/* Removes the link and its folder; NULL does nothing. */
void preload_unlink(const char *link, int lock);

#endif
