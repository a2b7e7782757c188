/* SPDX-License-Identifier: MIT
 *
 * Puts into words what the last reading of a trace showed and what it left out.
 */
#include "trace/answer.h"
#include "base/number.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer *answer_new(void)
{
	return calloc(1, sizeof(struct answer));
}

void answer_forget_span(struct answer *a)
{
	free(a->from);
	free(a->until);
	a->from = a->until = NULL;
	a->has_span = 0;
}

void answer_free(struct answer *a)
{
	if (a)
		answer_forget_span(a);
	free(a);
}

/* ---- in words ------------------------------------------------------------ */

enum { MOST_WORDS = 4096, MOST_OF_A_WORD = 240 };

/* Text that is cut where there is no more room. */
struct line {
	char text[MOST_WORDS];
	size_t n;
};

static void line_put(struct line *l, const char *text)
{
	size_t n = strlen(text);

	if (n > sizeof(l->text) - 1 - l->n)
		n = sizeof(l->text) - 1 - l->n;
	memcpy(l->text + l->n, text, n);
	l->n += n;
	l->text[l->n] = '\0';
}

static void line_put_number(struct line *l, uint64_t n)
{
	char digits[32];

	*number_put(digits, n) = '\0';
	line_put(l, digits);
}

/* "depth 3", behind a comma but for the first. */
static void put_name(struct line *l, const char *name)
{
	line_put(l, l->n ? ", " : "");
	line_put(l, name);
	line_put(l, " ");
}

static void put_word(struct line *l, const char *name, const char *word)
{
	char shown[MOST_OF_A_WORD + 1];

	if (!word || !*word)
		return;
	*utf8_put(shown, word, MOST_OF_A_WORD) = '\0';
	put_name(l, name);
	line_put(l, shown);
}

static void put_count(struct line *l, const char *name, uint64_t n)
{
	if (!n)
		return;
	put_name(l, name);
	line_put_number(l, n);
}

/* Puts a time as the user has written it: in the largest unit that leaves no
 * remainder. */
static void line_put_time(struct line *l, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {
		{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
	int i = 0;

	while (ns % units[i].ns)
		i++;
	line_put_number(l, ns / units[i].ns);
	line_put(l, units[i].name);
}

static void put_time(struct line *l, const char *name, uint64_t ns)
{
	if (!ns)
		return;
	put_name(l, name);
	line_put_time(l, ns);
}

static void put_range(struct line *l, const struct cst_choice *c)
{
	if (!c->range_from_ns && !c->range_until_ns)
		return;
	put_name(l, "range");
	if (c->range_from_ns)
		line_put_time(l, c->range_from_ns);
	line_put(l, "..");
	if (c->range_until_ns)
		line_put_time(l, c->range_until_ns);
}

static void put_thread(struct line *l, const struct cst_choice *c)
{
	if (!c->process) {
		put_count(l, "thread", c->thread);
		return;
	}
	put_count(l, "thread", c->process);
	line_put(l, ":");
	line_put_number(l, c->thread);
}

static void put_choice(struct line *l, const struct cst_choice *c)
{
	put_word(l, "filter", c->filter);
	put_word(l, "exclude", c->exclude);
	put_word(l, "in", c->file);
	put_word(l, "module", c->module);
	put_count(l, "depth", c->depth);
	put_time(l, "min-time", c->min_ns);
	put_word(l, "where", c->where);
	put_word(l, "from", c->from);
	put_word(l, "until", c->until);
	put_word(l, "below", c->root);
	put_range(l, c);
	put_thread(l, c);
}

int cst_choice_text(const struct cst_choice *choice, char *out, uint32_t size)
{
	struct line l = {.n = 0};

	put_choice(&l, choice);
	snprintf(out, size, "%s", l.text);
	return (int)l.n;
}

static void put_calls(struct line *l, uint64_t n, uint64_t n_all)
{
	line_put_number(l, n);
	line_put(l, " of ");
	line_put_number(l, n_all);
	line_put(l, n_all == 1 ? " call" : " calls");
}

/* Rows that are no calls, where there are no others to count. */
static void put_notes(struct line *l, uint64_t n)
{
	line_put(l, ", ");
	line_put_number(l, n);
	line_put(l, n == 1 ? " other row" : " other rows");
}

/* The C++ library's calls, which no word of the user's has hidden. */
static void put_std(struct line *l, uint64_t n, enum cst_words words)
{
	line_put(l, "; ");
	line_put_number(l, n);
	line_put(l,
		 n == 1 ? " library call hidden: " : " library calls hidden: ");
	line_put(l, words == CST_WORDS_GDB ? "`set cstrace std on`" : "--std");
}

uint64_t cst_trace_hidden_std(const struct cst_trace *t)
{
	return t->answer->is_chosen ? t->answer->n_std : 0;
}

int cst_trace_note(const struct cst_trace *t, const struct cst_choice *choice,
		   enum cst_words words, int has_all, char *out, uint32_t size)
{
	const struct answer *a = t->answer;
	uint64_t n_all = t->status.n_calls + t->status.n_seeds;
	struct line l = {.n = 0};
	int is_bare, is_complete = a->has_counts && a->n_shown >= n_all;

	if (!a->is_chosen || is_complete) {
		*out = '\0';
		return 0;
	}
	put_choice(&l, choice);
	is_bare = l.n && !a->has_counts;
	if (a->has_counts) {
		line_put(&l, l.n ? ": " : "");
		put_calls(&l, a->n_shown, n_all);
		if (a->n_notes && !a->n_shown)
			put_notes(&l, a->n_notes);
		if (a->n_std)
			put_std(&l, a->n_std, words);
	}
	if (l.n && has_all)
		line_put(&l, words == CST_WORDS_GDB
				     ? "; -all shows the others"
				     : "; --all shows the others");
	return snprintf(out, size, "%s%s", is_bare ? "with " : "", l.text);
}
