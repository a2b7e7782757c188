/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What LD_PRELOAD must be for a program to take the shim.
 */
#ifndef CLI_PRELOAD_H
#define CLI_PRELOAD_H

/* The value, with the user's own entries behind; *link: a link that was made
 * for it, or NULL.  Both are the caller's.  An exit code; told. */
int preload_make(const char *program, char **value, char **link);
/* Take the link and its folder away; NULL does nothing. */
void preload_unlink(const char *link);

#endif
