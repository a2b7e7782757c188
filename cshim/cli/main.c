/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The cstrace command: picks the subcommand, all else is in its file.
 */
#include "command.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {
	&command_gdb,  &command_record, &command_show, &command_report,
	&command_save, &command_info,	&command_diff, &command_expect,
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void tell(const char *name, const char *format, va_list args)
{
	fprintf(stderr, "cstrace%s%s: ", name ? " " : "", name ? name : "");
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int usage_error(const struct command *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(c->name, format, args);
	va_end(args);
	return STATUS_USAGE;
}

int failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(NULL, format, args);
	va_end(args);
	return STATUS_FAILED;
}

static void print_help(FILE *to)
{
	fputs("usage: cstrace COMMAND [ARGUMENT...]\n"
	      "\n"
	      "Show every call that a C or C++ program makes.\n"
	      "\n",
	      to);
	for (int i = 0; i < N_COMMANDS; i++)
		fprintf(to, "  %-8s %s\n", commands[i]->name,
			commands[i]->summary);
	fputs("\n"
	      "cstrace COMMAND --help tells more; cstrace --version says which "
	      "version this is.\n",
	      to);
}

static const struct command *find_command(const char *name)
{
	for (int i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int run_command(const struct command *c, int argc, char **argv)
{
	char name[64]; /* getopt begins its messages with it */
	int status;

	snprintf(name, sizeof(name), "cstrace %s", c->name);
	argv[0] = name;
	status = c->run(argc, argv);
	if (fflush(stdout) && status == STATUS_OK)
		return failure("cannot write the output");
	return status;
}

int main(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		print_help(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help(stdout);
		return STATUS_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("cstrace " CST_VERSION);
		return STATUS_OK;
	}
	c = find_command(argv[1]);
	if (!c) {
		fprintf(stderr,
			"cstrace: no command '%s': see cstrace --help\n",
			argv[1]);
		return STATUS_USAGE;
	}
	return run_command(c, argc - 1, argv + 1);
}
