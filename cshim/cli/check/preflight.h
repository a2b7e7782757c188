/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is told before a program runs that cannot be recorded: the verdict of
 * `cstrace check`, as far as it costs no time.
 */
#ifndef CLI_PREFLIGHT_H
#define CLI_PREFLIGHT_H

/* Tell in one line why calls of the program at path will not be recorded;
 * name is what the user called it.  Returns whether there was something to
 * tell: what such a program runs in turn may be recorded all the same. */
int preflight_tell(const char *path, const char *name);

#endif
