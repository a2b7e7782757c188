/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The value that LD_PRELOAD must have for a program to load the shim.
 */
#ifndef CLI_PRELOAD_H
#define CLI_PRELOAD_H

/* Makes the value, with the user's own entries behind it.  *link is a link that
 * was made for it, or NULL; the caller frees both.  Returns an exit code; a
 * failure was reported. */
int preload_make(const char *program, char **value, char **link);
/* Removes the link and its folder; NULL does nothing. */
void preload_unlink(const char *link);

#endif
