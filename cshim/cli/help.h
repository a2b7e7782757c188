/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The help texts of the subcommands.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "command.h"

/* Prints the help of one command, with its options, to standard output. */
void help_print_command(const struct command *c);

#endif
