/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints the words that may stand at the cursor of a command line; the shells'
 * completion scripts run it.
 */
#include "complete.h"
#include "commands.h"
#include "complete_where.h"
#include "cstrace/engine.h"
#include "option_rows.h"
#include "trace_file.h"

#include <stdio.h>
#include <string.h>

struct line {
	char **words;
	int at; /* the word at the cursor */
};

static int is_begun(const struct line *l, const char *word)
{
	return !strncmp(word, l->words[l->at], strlen(l->words[l->at]));
}

static void offer(const struct line *l, const char *word, const char *meaning)
{
	if (is_begun(l, word))
		printf("%s\t%s\n", word, meaning);
}

static void offer_commands(const struct line *l)
{
	for (int i = 0; commands[i]; i++)
		offer(l, commands[i]->name, commands[i]->summary);
}

/* Is there a command, or one of the two options, that the word begins? */
static int is_command_begun(const struct line *l)
{
	for (int i = 0; commands[i]; i++)
		if (is_begun(l, commands[i]->name))
			return 1;
	return *l->words[l->at] == '-' || is_begun(l, "help");
}

static void offer_option(const struct line *l, const char *name,
			 const char *help)
{
	char word[64];

	snprintf(word, sizeof(word), "--%s", name);
	offer(l, word, help);
}

static void offer_options(const struct line *l, const struct command *c)
{
	for (const struct option_row *row = option_rows; row->name; row++)
		if (row->use & c->options && row->help)
			offer_option(l, row->name, row->help);
	offer_option(l, "help", "all of this");
}

static void offer_formats(const struct line *l)
{
	char names[256];

	snprintf(names, sizeof(names), "%s", cst_formats());
	for (char *rest = names, *name; (name = strsep(&rest, " "));)
		offer(l, name, "");
}

static void offer_kind(const struct line *l, enum takes takes)
{
	if (takes == TAKES_TRACE)
		puts(":trace");
	else if (takes == TAKES_FILE)
		puts(":file");
	else if (takes == TAKES_PROGRAM)
		printf(":command %d\n", l->at);
}

static void offer_values(const struct line *l, const struct option_row *row)
{
	for (int i = 0; row->words && row->words[i]; i++)
		if (!strcmp(row->words[i], ":format"))
			offer_formats(l);
		else if (!strcmp(row->words[i], ":where"))
			complete_where(l->words[l->at], l->words, l->at);
		else if (*row->words[i] == ':')
			puts(row->words[i]);
		else
			offer(l, row->words[i], "");
}

/* "--depth", or a beginning of it that no other option has. */
static const struct option_row *find_row(const struct command *c,
					 const char *word)
{
	const struct option_row *found = NULL;

	if (!strcmp(word, "-o"))
		word = "--output";
	else if (!strcmp(word, "-p"))
		word = "--pid";
	if (strncmp(word, "--", 2) != 0 || !word[2] || strchr(word, '='))
		return NULL;
	for (const struct option_row *row = option_rows; row->name; row++) {
		if (!(row->use & c->options) ||
		    strncmp(row->name, word + 2, strlen(word + 2)) != 0)
			continue;
		if (!strcmp(row->name, word + 2))
			return row;
		if (found)
			return NULL;
		found = row;
	}
	return found;
}

/* gdb's own options, as far as people type them; then files, or what --args
 * begins. */
static void complete_gdb(const struct line *l)
{
	static const char *const options[] = {
		"--args", "--batch", "--command", "--core",  "--ex",
		"--help", "--nx",    "--pid",	  "--quiet", "--tui"};

	for (int i = 1; i < l->at; i++)
		if (!strcmp(l->words[i], "--args") ||
		    !strcmp(l->words[i], "-args")) {
			printf(":command %d\n", i + 1);
			return;
		}
	if (*l->words[l->at] != '-')
		puts(":file");
	else
		for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
			offer(l, options[i], "");
}

/* Options may stand anywhere, but not behind a program's name. */
static void complete_arguments(const struct line *l, const struct command *c)
{
	const struct option_row *row = NULL; /* it wants the next word */
	int n_names = 0, is_over = 0;

	for (int i = 1; i < l->at; i++) {
		const char *word = l->words[i];

		if (row) {
			row = NULL;
		} else if (!is_over && !strcmp(word, "--")) {
			is_over = 1;
		} else if (!is_over && *word == '-' && word[1]) {
			row = find_row(c, word);
			row = row && option_row_takes_word(row) ? row : NULL;
		} else if (n_names < MAX_TAKES &&
			   c->takes[n_names] == TAKES_PROGRAM) {
			printf(":command %d\n", i);
			return;
		} else {
			n_names++;
		}
	}
	if (row)
		offer_values(l, row);
	else if (!is_over && *l->words[l->at] == '-')
		offer_options(l, c);
	else if (n_names < MAX_TAKES)
		offer_kind(l, c->takes[n_names]);
}

int complete_print(int n_words, char **words)
{
	struct line l = {words, n_words - 1};
	const struct command *c;

	if (n_words < 1)
		return STATUS_USAGE;
	if (l.at == 0 && !is_command_begun(&l)) {
		puts(":trace");
		return STATUS_OK;
	}
	if (l.at == 0) {
		offer_commands(&l);
		offer(&l, "help", "Tell about a command");
		if (*words[0] == '-') {
			offer_option(&l, "help", "What there is");
			offer_option(&l, "version", "Which version this is");
		}
		return STATUS_OK;
	}
	c = command_find(words[0]);
	if (!c && *words[0] != '-' && trace_file_is_meant(words[0]))
		c = &command_show;
	if (c && c->takes[0] == TAKES_GDB)
		complete_gdb(&l);
	else if (c)
		complete_arguments(&l, c);
	else if (!strcmp(words[0], "help") && l.at == 1)
		offer_commands(&l);
	return STATUS_OK;
}
