/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that belong to the command, where it lies itself: installed, or in the
 * build folder of a checkout.
 */
#ifndef CLI_INSTALL_DIR_H
#define CLI_INSTALL_DIR_H

#include <limits.h>

/* The first of the NULL-ended places, seen from the command's own folder, that
 * is there.  STATUS_OK, or STATUS_FAILED and told: it cannot be found. */
int install_dir_find(const char *name, const char *const *places,
		     char out[PATH_MAX]);

#endif
