/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A trace on standard input.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

/* path, or where standard input is to be read if path is "-": from a pipe it
 * is kept in a file without a name.  NULL: told. */
const char *input_path(const char *path);

#endif
