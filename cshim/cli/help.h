/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What --help prints, on standard output.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "command.h"

/* Prints all commands, a line each. */
void help_print(FILE *to);
/* Prints one command with its options. */
void help_print_command(const struct command *c);

#endif
