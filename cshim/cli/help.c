/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints a command's options and examples, from the tables that the command is
 * read with.
 */
#include "help.h"
#include "option_rows.h"

#include <stdio.h>
#include <string.h>

static void print_option(const char *name, const char *value, const char *help)
{
	char left[64];

	snprintf(left, sizeof(left), "--%s%s%s", name,
		 value && *value != '[' ? " " : "", value ? value : "");
	printf("  %-18s  %s\n", left, help);
}

static void print_options(const struct command *c)
{
	printf("\nOptions:\n");
	for (const struct option_row *row = option_rows; row->name; row++)
		if (row->use & c->options && row->help)
			print_option(row->name, row->value, row->help);
	print_option("help", NULL, "this text; also -h");
}

static void print_examples(const char *lines)
{
	printf("\nExamples:\n");
	while (*lines) {
		int length = (int)strcspn(lines, "\n");

		printf("  cstrace %.*s\n", length, lines);
		lines += length + (lines[length] == '\n');
	}
}

void help_print_command(const struct command *c)
{
	printf("usage: cstrace %s %s\n\n%s.\n", c->name, c->arguments,
	       c->summary);
	if (*c->details)
		printf("\n%s", c->details);
	if (c->options)
		print_options(c);
	if (c->examples)
		print_examples(c->examples);
}
