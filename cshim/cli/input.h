/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A trace that comes through a pipe.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

/* path, or where to read what it is for standard input ("-") or a <(command):
 * that is kept in a file without a name.  NULL: told. */
const char *input_path(const char *path);

#endif
