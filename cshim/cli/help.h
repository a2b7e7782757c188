/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The help texts of the command.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "command.h"

/* Prints the general help to `to`: all commands, a line each, and examples. */
void help_print(FILE *to);
/* Prints the help of one command, with its options, to standard output. */
void help_print_command(const struct command *c);

#endif
