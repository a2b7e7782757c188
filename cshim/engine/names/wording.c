/* SPDX-License-Identifier: MIT
 *
 * Decides which functions a user's word means, and finds names that a misspelt
 * one was probably meant to be.
 */
#include "names/wording.h"
#include "base/regex.h"
#include "base/utf8.h"
#include "names/simple.h"

#include <ctype.h>
#include <stdio.h>
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
	if (status < 0 && !w->is_regex && strstr(w->word, "operator"))
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
			       is_tail(f->signature, w->word)
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
		signature[SIMPLE_SIZE];
	struct function f = {.name = name,
			     .simple = simple,
			     .parameters = parameters,
			     .signature = signature};
	enum fit fit;

	if (!w->word || w->is_regex || w->best == FIT_WHOLE ||
	    (w->part && !strstr(symbol, w->part)))
		return 0;
	cst_demangle(symbol, name, sizeof(name));
	simple_name(name, simple, sizeof(simple));
	simple_parameters(name, parameters, sizeof(parameters));
	simple_signature(name, signature, sizeof(signature));
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

/* ---- what was meant ------------------------------------------------------ */

enum { LONGEST = 63, MOST_NEAR = 3 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters to change, put in, take out, or swap with their neighbours. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][LONGEST + 1];
	size_t n = strlen(b), n_a = strlen(a);

	for (size_t i = 0; i <= n; i++)
		rows[0][i] = (unsigned)i;
	for (size_t k = 1; k <= n_a; k++) {
		unsigned *row = rows[k % 3], *above = rows[(k + 2) % 3];

		row[0] = (unsigned)k;
		for (size_t i = 1; i <= n; i++) {
			row[i] = least(least(row[i - 1], above[i]) + 1,
				       above[i - 1] + (a[k - 1] != b[i - 1]));
			if (k > 1 && i > 1 && a[k - 1] == b[i - 2] &&
			    a[k - 2] == b[i - 1])
				row[i] = least(row[i],
					       rows[(k + 1) % 3][i - 2] + 1);
		}
	}
	return rows[n_a % 3][n];
}

static const char *last_part(const char *name)
{
	const char *p = name;

	for (const char *at; (at = strstr(p, "::"));)
		p = at + 2;
	return p;
}

static unsigned distance_to(const char *word, const char *name)
{
	const char *last = last_part(name);
	unsigned d = UINT32_MAX, other;

	if (strlen(name) <= LONGEST)
		d = distance(word, name);
	other = strlen(last) <= LONGEST ? distance(word, last) : d;
	return other < d ? other : d;
}

struct near {
	const char *name;
	unsigned distance;
};

static void near_put(struct near *all, const char *name, unsigned d)
{
	struct near new = {name, d};

	for (int i = 0; i < MOST_NEAR; i++) {
		struct near old = all[i];

		if (old.name == name)
			return;
		if (old.name && old.distance <= new.distance)
			continue;
		all[i] = new;
		new = old;
		if (!new.name || new.name == name)
			return;
	}
}

int wording_near(const char *word, const struct names *names, char *out,
		 uint32_t size)
{
	struct near all[MOST_NEAR] = {0};
	size_t length = strlen(word);
	uint32_t used = 0;
	int n = 0;

	*out = '\0';
	if (length < 2 || length > LONGEST)
		return 0;
	for (uint32_t i = 0; i < names->n_functions; i++) {
		const char *name = names->functions[i].simple;
		unsigned d = distance_to(word, name);

		if (d <= (length + 2) / 3)
			near_put(all, name, d);
	}
	for (;
	     n < MOST_NEAR && all[n].name && all[n].distance == all[0].distance;
	     n++) {
		char shown[4 * LONGEST];

		*utf8_put(shown, all[n].name, sizeof(shown) - 1) = '\0';
		used += (uint32_t)snprintf(out + used, size - used, "%s%s",
					   n ? ", " : "", shown);
		if (used >= size)
			return n + 1;
	}
	return n;
}
