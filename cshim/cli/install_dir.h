/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that belong to the command, found from the folder where it lies:
 * installed, or the build folder of a checkout.
 */
#ifndef CLI_INSTALL_DIR_H
#define CLI_INSTALL_DIR_H

#include <limits.h>

/* Finds the first of the places that exists, and writes its path to out. places
 * are paths relative to the command's own folder, with NULL behind the last;
 * name is what messages call the file.  Returns STATUS_OK, or STATUS_FAILED
 * after it has reported that there is none. */
int install_dir_find(const char *name, const char *const *places,
		     char out[PATH_MAX]);

#endif
