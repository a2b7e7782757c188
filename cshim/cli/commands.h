/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of subcommands, each of which is in a file of commands/.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "command.h"

/* All commands, in the order of the help; NULL stands behind the last. */
extern const struct command *const commands[];

/* Returns the command of that name, or NULL. */
const struct command *command_find(const char *name);

#endif
