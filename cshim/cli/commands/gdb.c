/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cstrace gdb: gdb, with the extension loaded before anything else is done.
 */
#include "command.h"
#include "help.h"
#include "install_dir.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The loader, seen from the folder that the command is in: installed, or in
 * the build folder of a checkout. */
static const char *const places[] = {"../lib/cstrace/cstrace.py",
				     "../cstrace.py", "../../cstrace.py", NULL};

static int gdb_run(int argc, char **argv)
{
	char loader[PATH_MAX];
	const char *gdb = getenv("GDB");
	char **args;
	int status;

	if (argc == 2 &&
	    (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		help_print_command(&command_gdb);
		return STATUS_OK;
	}
	status = install_dir_find("cstrace.py", places, loader);
	if (status)
		return status;
	if (!gdb || !*gdb)
		gdb = "gdb";
	args = calloc((size_t)argc + 3, sizeof(*args));
	if (!args)
		return failure("out of memory");
	args[0] = (char *)gdb;
	args[1] = (char *)"-x";
	args[2] = loader;
	memcpy(args + 3, argv + 1, (size_t)(argc - 1) * sizeof(*args));
	execvp(gdb, args);
	status = failure("cannot run '%s': %s", gdb, strerror(errno));
	free(args);
	return status;
}

const struct command command_gdb = {
	.name = "gdb",
	.arguments = "[OPTION OF GDB...] [--args ./app ARG...]",
	.summary = "Run gdb with the cstrace commands in it",
	.details = "All arguments are gdb's own.  GDB in the environment names "
		   "another gdb.  In gdb,\n`cstrace start' and `run' begin a "
		   "trace, `help cstrace' tells more.\n",
	.examples = "gdb ./app\n"
		    "gdb --args ./app 1 2\n"
		    "gdb -batch -ex 'cstrace start' -ex run --args ./app 1 2\n",
	.takes = {TAKES_GDB},
	.run = gdb_run,
};
