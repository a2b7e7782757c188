/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A trace that comes through a pipe.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

/* Returns path; or, for standard input ("-") or the pipe of a shell's
 * <(command), which are read to their end, the path of a temporary file with a
 * copy, in static memory that the second call from now overwrites.  The file
 * lasts as long as the process.  Returns NULL after it has reported a failure.
 */
const char *input_path(const char *path);

#endif
