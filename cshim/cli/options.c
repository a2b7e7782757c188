/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the words behind a command's name with the rows of option_rows.c, and
 * explains words that it does not know.
 */
#include "options.h"
#include "base/text.h"
#include "help.h"
#include "option_rows.h"
#include "spelling.h"
#include "trace_file.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What getopt_long() returns for row i is FIRST + i: no letter, nor '?'. */
enum { FIRST = 256, HELP = 'h' };

/* The rows of one command, as getopt_long() wants them. */
static void choose_rows(const struct command *c, struct option *out)
{
	for (int i = 0; option_rows[i].name; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(row->use & c->options))
			continue;
		*out++ = (struct option){
			.name = row->name,
			.has_arg = option_row_takes_word(row)
					   ? required_argument
				   : row->value ? optional_argument
						: no_argument,
			.val = FIRST + i,
		};
	}
	*out++ = (struct option){.name = "help", .val = HELP};
	*out = (struct option){0};
}

/* ---- what is wrong with an option ------------------------------------------
 */

/* The name of another command that has it, or NULL. */
static const char *find_owner(const char *name)
{
	for (int i = 0; option_rows[i].name; i++)
		if (!strcmp(option_rows[i].name, name))
			return option_row_owner(&option_rows[i]);
	return NULL;
}

static const char *find_near(const struct option *chosen, const char *name)
{
	struct near n = {.wanted = name};

	for (; chosen->name; chosen++)
		spelling_offer(&n, chosen->name);
	return n.word;
}

static int n_beginning_with(const struct option *chosen, const char *name)
{
	int n = 0;

	for (; chosen->name; chosen++)
		n += text_begins(chosen->name, name);
	return n;
}

/* word is "--dpeth=3". */
static int tell_unknown(const struct command *c, const struct option *chosen,
			const char *word)
{
	char *name = strndup(word + 2, strcspn(word + 2, "="));
	const char *owner = name ? find_owner(name) : NULL;
	const char *near = name ? find_near(chosen, name) : NULL;

	if (!name)
		usage_error(c, "no option '%s'", word);
	else if (n_beginning_with(chosen, name) > 1)
		usage_error(c,
			    "which option is '--%s'?  Several begin so: see "
			    "cstrace %s --help",
			    name, c->name);
	else if (owner)
		usage_error(c, "no option '--%s' here: it is one of cstrace %s",
			    name, owner);
	else if (near)
		usage_error(c, "no option '--%s': did you mean --%s?", name,
			    near);
	else
		usage_error(c, "no option '--%s': see cstrace %s --help", name,
			    c->name);
	free(name);
	return -STATUS_USAGE;
}

/* gdb's way: "-depth 5".  getopt has moved on behind a lone letter. */
static int tell_letter(const struct command *c, const struct option *chosen,
		       char **argv, int letter)
{
	const char *word = argv[optind];

	if (!word || word[0] != '-' || word[1] != letter)
		word = argv[optind - 1];
	for (; chosen->name; chosen++)
		if (!strcmp(chosen->name, word + 1))
			return -usage_error(c,
					    "'%s' is spelled -%s here, with "
					    "two dashes",
					    word, word);
	return -usage_error(c, "no option '-%c': see cstrace %s --help", letter,
			    c->name);
}

static int tell_option(const struct command *c, const struct option *chosen,
		       int what, char **argv)
{
	if (what == ':' && optopt >= FIRST)
		return -usage_error(c, "--%s needs a value: --%s %s",
				    option_rows[optopt - FIRST].name,
				    option_rows[optopt - FIRST].name,
				    option_rows[optopt - FIRST].value);
	if (what == ':')
		return -usage_error(c, "-%c needs a value", optopt);
	if (optopt >= FIRST)
		return -usage_error(c, "--%s takes no value",
				    option_rows[optopt - FIRST].name);
	if (optopt == HELP)
		return -usage_error(c, "--help takes no value");
	if (optopt)
		return tell_letter(c, chosen, argv, optopt);
	return tell_unknown(c, chosen, argv[optind - 1]);
}

/* ---- all of them ------------------------------------------------------- */

/* Options of which the last would win in silence, where a user may expect that
 * each adds its own. */
static const char *const single[] = {"filter",	"exclude", "callers",
				     "callees", "from",	   "until",
				     "in",	"module",  "where"};

/* Puts the option into *seen, a bit for each of them.  Returns -STATUS_USAGE
 * after a message if it was there. */
static int note_single(const struct command *c, const struct option_row *row,
		       unsigned *seen)
{
	for (unsigned i = 0; i < sizeof(single) / sizeof(*single); i++) {
		if (strcmp(row->name, single[i]) != 0)
			continue;
		if (!(*seen & 1u << i)) {
			*seen |= 1u << i;
			return 0;
		}
		return -usage_error(
			c, "--%s is there twice: %s", row->name,
			!strcmp(row->name, "in") || !strcmp(row->name, "module")
				? "it takes one name"
			: !strcmp(row->name, "where")
				? "one condition can have several parts, with "
				  "&& and ||"
				: "one regex can name several functions, as "
				  "'/this|that/'");
	}
	return 0;
}

static int set(const struct command *c, int i, unsigned *seen,
	       struct options *out)
{
	const struct option_row *row = &option_rows[i];
	int status = note_single(c, row, seen);

	if (status < 0)
		return status;
	if (option_row_set(row, out, optarg) < 0)
		return -usage_error(c, "bad value '%s' for --%s (%s)", optarg,
				    row->name, row->help);
	return 1;
}

/* --pid, which is -p as well. */
static int find_pid_row(void)
{
	int i = 0;

	while (strcmp(option_rows[i].name, "pid") != 0)
		i++;
	return i;
}

int options_parse(const struct command *c, int argc, char **argv, int min_names,
		  int max_names, struct options *out)
{
	/* What follows a program's name is the program's. */
	const char *letters = c->options & FOR_RECORD	? "+:ho:p:"
			      : c->options & FOR_LIVE	? "+:ho:"
			      : c->options & FOR_SAMPLE ? ":ho:p:"
			      : c->options & FOR_TOP	? ":hp:"
							: ":h";
	struct option chosen[MAX_OPTION_ROWS];
	unsigned seen = 0;
	int what, status = 1;

	options_default(out);
	out->look.id = !!(c->options & (FOR_SHOW | FOR_LIVE | FOR_CALLS));
	out->look.fold = out->look.id && isatty(STDOUT_FILENO);
	choose_rows(c, chosen);
	opterr = 0;
	while (status > 0 &&
	       (what = getopt_long(argc, argv, letters, chosen, NULL)) >= 0) {
		if (what == HELP) {
			help_print_command(c);
			return 0;
		}
		if (what == '?' || what == ':')
			return tell_option(c, chosen, what, argv);
		status = set(c,
			     what == 'o'   ? OUTPUT_ROW
			     : what == 'p' ? find_pid_row()
					   : what - FIRST,
			     &seen, out);
	}
	if (status < 0)
		return status;
	out->names = argv + optind;
	out->n_names = argc - optind;
	trace_file_fill(c, max_names, out);
	if (out->pid)
		min_names = 0;
	if (out->n_names < min_names || out->n_names > max_names)
		return -usage_error(c, "%s: the usage is: cstrace %s %.*s",
				    out->n_names < min_names
					    ? "something is missing"
					    : "too many arguments",
				    c->name, (int)strcspn(c->arguments, "\n"),
				    c->arguments);
	return 1;
}
