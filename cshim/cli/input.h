/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A trace that comes through a pipe.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

/* Returns path, or, for standard input ("-") or a <(command), the path of a
 * temporary file with a copy of it.  Returns NULL after it has reported a
 * failure. */
const char *input_path(const char *path);

#endif
