/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The cstrace command: picks the subcommand, or prints the general help.
 */
#include "big_stack.h"
#include "commands.h"
#include "complete.h"
#include "help.h"
#include "spelling.h"
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_general_help(FILE *to)
{
	fputs("usage: cstrace COMMAND [ARGUMENT...]\n"
	      "\n"
	      "Show every call that a C or C++ program makes.\n"
	      "\n"
	      "Commands:\n",
	      to);
	for (int i = 0; commands[i]; i++)
		fprintf(to, "  %-8s %s\n", commands[i]->name,
			commands[i]->summary);
	fputs("\n"
	      "Examples:\n"
	      "  cstrace record ./app\n"
	      "  cstrace show\n"
	      "  cstrace gdb --args ./app 1 2\n"
	      "\n"
	      "Where no trace is named, cstrace.cst is read, which `record' "
	      "leaves.\nFILE.cst may be - for standard input, or the shell's "
	      "<(...).  `cstrace FILE.cst'\nshows it.\n"
	      "`cstrace COMMAND --help' or `cstrace help COMMAND' tells more, "
	      "`cstrace\n--version' says which version this is.\n",
	      to);
}

/* One line, and what was probably meant. */
static int tell_no_command(const char *word)
{
	struct near n = {.wanted = word};
	struct stat st;

	for (int i = 0; commands[i]; i++)
		spelling_offer(&n, commands[i]->name);
	if (n.word)
		return failure("no command '%s': did you mean %s?", word,
			       n.word);
	spelling_offer(&n, "--help");
	spelling_offer(&n, "--version");
	if (*word == '-' && n.word)
		return failure("no option '%s': did you mean %s?", word,
			       n.word);
	if (*word == '-')
		return failure("no option '%s': see cstrace --help", word);
	if (stat(word, &st) < 0 || !S_ISREG(st.st_mode))
		return failure("no command '%s': see cstrace --help", word);
	return failure("no command '%s': did you mean cstrace %s %s?", word,
		       access(word, X_OK) == 0 ? "record" : "show", word);
}

static int print_help(int n_words, char **words)
{
	const struct command *c;

	if (n_words == 0) {
		print_general_help(stdout);
		return STATUS_OK;
	}
	c = command_find(words[0]);
	if (!c) {
		tell_no_command(words[0]);
		return STATUS_USAGE;
	}
	help_print_command(c);
	return STATUS_OK;
}

static void print_version(void)
{
	puts("cstrace " CST_VERSION "\n"
	     "Licence: GPL-3.0-or-later; MIT for what is loaded into gdb or "
	     "your program.\n"
	     "There is no warranty, as far as the law allows.");
}

static int run(int argc, char **argv)
{
	const struct command *c = command_find(argv[1]);

	if (c)
		return c->run(argc - 1, argv + 1);
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "-h"))
		return print_help(argc - 2, argv + 2);
	if (!strcmp(argv[1], "--complete"))
		return complete_print(argc - 2, argv + 2);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		print_version();
		return STATUS_OK;
	}
	if (*argv[1] != '-' && trace_file_is_meant(argv[1]))
		return command_show.run(argc, argv);
	tell_no_command(argv[1]);
	return STATUS_USAGE;
}

/* A reader that had enough is no failure of ours. */
static int flush(int status)
{
	if (!fflush(stdout) || errno == EPIPE || status)
		return status;
	return failure("cannot write the output: %s", strerror(errno));
}

/* A file of ours must not become what messages are written to.  Writing here
 * fails as before; and the program gets what we were given. */
static void fill_standard_places(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null",
			 (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) |
				 O_CLOEXEC) < 0)
			return;
}

int main(int argc, char **argv)
{
	fill_standard_places();
	if (argc < 2) {
		print_general_help(stderr);
		return STATUS_USAGE;
	}
	return flush(big_stack_run(run, argc, argv));
}
