/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lists the subcommands: what runs, explains and completes them finds them
 * here.
 */
#include "commands.h"

#include <string.h>

const struct command *const commands[] = {
	&command_gdb,	&command_record, &command_live,	  &command_show,
	&command_list,	&command_calls,	 &command_report, &command_graph,
	&command_save,	&command_info,	 &command_diff,	  &command_expect,
	&command_check, &command_sample, &command_top,	  NULL,
};

const struct command *command_find(const char *name)
{
	for (int i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}
