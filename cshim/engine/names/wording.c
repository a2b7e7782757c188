/* SPDX-License-Identifier: MIT
 *
 * Decides which functions a user's word means, and finds names that a misspelt
 * one was probably meant to be.
 */
#include "names/wording.h"
#include "base/regex.h"
#include "names/near.h"
#include "names/simple.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int is_of_identifier(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns the last identifier before the parameters of a name, which stands in
 * its linkage name as it is, or NULL. */
static char *part_of(const char *word)
{
	size_t end = strcspn(word, "(<"), begin;

	while (end && !is_of_identifier(word[end - 1]))
		end--;
	for (begin = end; begin && is_of_identifier(word[begin - 1]);)
		begin--;
	if (begin == end || !strncmp(word + begin, "operator", 8))
		return NULL;
	return strndup(word + begin, end - begin);
}

/* Is it a name with its parameters, as in "main(int, char**)"?  Such a one need
 * not be a regex, too. */
static int is_signature(const char *word)
{
	size_t n = strlen(word), n_const = strlen(" const");
	const char *open = strchr(word, '(');

	if (n > n_const && !strcmp(word + n - n_const, " const"))
		n -= n_const;
	return open && open > word && word[n - 1] == ')' &&
	       (is_of_identifier(open[-1]) || open[-1] == '>');
}

/* ---- one word ------------------------------------------------------------ */

int wording_init(struct wording *w, const char *word, enum cst_names names,
		 struct cst_error *err)
{
	size_t n = word ? strlen(word) : 0;
	int status;

	*w = (struct wording){.is_full = names == CST_NAMES_FULL};
	if (!word)
		return 0;
	w->is_regex = n > 2 && word[0] == '/' && word[n - 1] == '/';
	w->word = w->is_regex ? strndup(word + 1, n - 2) : strdup(word);
	if (!w->word)
		return cst_fail_memory(err);
	status = regex_compile(&w->regex, w->word, err);
	if (!w->is_regex)
		w->part = part_of(w->word);
	if (status < 0 && !w->is_regex &&
	    (strstr(w->word, "operator") || is_signature(w->word)))
		return 0;
	if (status < 0)
		wording_release(w);
	return status;
}

void wording_release(struct wording *w)
{
	regex_free(w->regex);
	free(w->word);
	free(w->part);
	*w = (struct wording){0};
}

static int is_tail(const char *name, const char *word)
{
	size_t n = strlen(name), n_word = strlen(word);

	return n > n_word + 2 && !strcmp(name + n - n_word, word) &&
	       !memcmp(name + n - n_word - 2, "::", 2);
}

/* Are these the parameters that a name ends with, and no lambda's of it? */
static int is_end_of_name(const char *p)
{
	int depth = 0;

	if (*p != '(')
		return !*p;
	do {
		depth += (*p == '(') - (*p == ')');
		p++;
	} while (*p && depth);
	return !depth && strncmp(p, "::", 2) != 0;
}

/* The full name, or all of it before its parameters. */
static int is_full_name(const char *name, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(name, word, n) && is_end_of_name(name + n);
}

/* "throw" is the name of all that is thrown, whatever it is, and "span" that of
 * all spans. */
static int is_what_it_does(const struct function *f, const char *word)
{
	size_t n = strlen(word);

	return f->kind && !strncmp(f->name, word, n) &&
	       (!f->name[n] || f->name[n] == ' ' || f->name[n] == ':');
}

static enum fit fit_of(const struct wording *w, const struct function *f)
{
	if (is_what_it_does(f, w->word))
		return FIT_WHOLE;
	if (!strcmp(f->simple, w->word) || !strcmp(f->parameters, w->word) ||
	    !strcmp(f->signature, w->word) || is_full_name(f->name, w->word))
		return FIT_WHOLE;
	return is_tail(f->simple, w->word) || is_tail(f->parameters, w->word) ||
			       is_tail(f->signature, w->word) ||
			       is_tail(f->qualified, w->word)
		       ? FIT_TAIL
		       : FIT_NONE;
}

int wording_learn(struct wording *w, const struct names *names)
{
	uint8_t before = w->best;

	if (!w->word || w->is_regex)
		return 0;
	for (; w->n_known < names->n_functions; w->n_known++) {
		enum fit fit = fit_of(w, &names->functions[w->n_known]);

		if (fit > w->best)
			w->best = (uint8_t)fit;
	}
	return w->best != before;
}

int wording_hear(struct wording *w, const char *symbol)
{
	char name[16384], simple[SIMPLE_SIZE], parameters[SIMPLE_SIZE],
		signature[SIMPLE_SIZE], qualified[SIMPLE_SIZE];
	struct function f = {.name = name,
			     .simple = simple,
			     .parameters = parameters,
			     .signature = signature,
			     .qualified = qualified};
	enum fit fit;

	if (!w->word || w->is_regex || w->best == FIT_WHOLE ||
	    (w->part && !strstr(symbol, w->part)))
		return 0;
	cst_demangle(symbol, name, sizeof(name));
	simple_name(name, simple, sizeof(simple));
	simple_parameters(name, parameters, sizeof(parameters));
	simple_signature(name, signature, sizeof(signature));
	simple_long(name, qualified, sizeof(qualified));
	fit = fit_of(w, &f);
	if (fit <= w->best)
		return 0;
	w->best = (uint8_t)fit;
	return 1;
}

void wording_forget(struct wording *w, uint32_t id)
{
	if (id < w->n_known)
		w->n_known = id;
}

int wording_matches(const struct wording *w, const struct function *f)
{
	if (!w->word)
		return 0;
	if (w->best != FIT_NONE)
		return fit_of(w, f) == w->best;
	return w->regex &&
	       regex_matches(w->regex, w->is_full ? f->name : f->simple);
}

int wording_near(const char *word, const struct names *names, char *out,
		 uint32_t size)
{
	struct near near;

	near_init(&near, word);
	for (uint32_t i = 0; i < names->n_functions; i++)
		near_offer(&near, names->functions[i].simple);
	return near_put(&near, out, size);
}
