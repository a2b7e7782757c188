/* SPDX-License-Identifier: MIT
 *
 * The regexes run once for each function; after that a call costs one look
 * into a table of verdicts.
 */
#include "names/filter.h"
#include "base/array.h"
#include "names/wording.h"

#include <stdlib.h>
#include <string.h>

enum verdict {
	VERDICT_KNOWN = 1,
	VERDICT_HIDDEN = 2,   /* excluded, or the library's */
	VERDICT_MATCHES = 4,  /* the filter, or there is none */
	VERDICT_EXCLUDED = 8, /* by the user's own word */
	VERDICT_STD = 16,     /* hidden as the library's, and for no other
			       * reason */
	VERDICT_BEGINS = 32,  /* the choice's from */
	VERDICT_ENDS = 64,    /* its until */
};

struct filter {
	struct wording only, exclude, from, until;
	char *file, *module; /* or NULL */
	uint32_t depth;	     /* UINT32_MAX: all */
	int shows_std;
	uint8_t *verdicts; /* by function */
	uint32_t n_verdicts;
};

int filter_is_id(const char *word)
{
	return *word >= '0' && *word <= '9';
}

/* Returns the word, or NULL for an ID, which is no function: the readers of a
 * trace look for it themselves. */
static const char *bound_word(const char *word)
{
	return word && filter_is_id(word) ? NULL : word;
}

static int copy_text(char **out, const char *text, struct cst_error *err)
{
	if (!text)
		return 0;
	*out = strdup(text);
	return *out ? 0 : cst_fail_memory(err);
}

static int filter_init(struct filter *f, const struct cst_choice *choice,
		       struct cst_error *err)
{
	enum cst_names names = (enum cst_names)choice->names;
	const char *from = bound_word(choice->from);
	const char *until = bound_word(choice->until);
	int status = wording_init(&f->only, choice->filter, names, err);

	if (status == 0)
		status = wording_init(&f->exclude, choice->exclude, names, err);
	if (status == 0)
		status = wording_init(&f->from, from, names, err);
	if (status == 0)
		status = wording_init(&f->until, until, names, err);
	if (status == 0)
		status = copy_text(&f->file, choice->file, err);
	if (status == 0)
		status = copy_text(&f->module, choice->module, err);
	return status;
}

int filter_new(const struct cst_choice *choice, struct filter **out,
	       struct cst_error *err)
{
	struct filter *f = calloc(1, sizeof(*f));
	int status;

	if (!f)
		return cst_fail_memory(err);
	f->depth = choice->depth ? choice->depth : UINT32_MAX;
	f->shows_std = choice->std;
	status = filter_init(f, choice, err);
	if (status < 0) {
		filter_free(f);
		return status;
	}
	*out = f;
	return 0;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	wording_release(&f->only);
	wording_release(&f->exclude);
	wording_release(&f->from);
	wording_release(&f->until);
	free(f->file);
	free(f->module);
	free(f->verdicts);
	free(f);
}

struct filter_state filter_root(const struct filter *f)
{
	return (struct filter_state){.depth = 0, .is_inside = !f->only.word};
}

/* Is it the path, or some of its last names? */
static int path_ends_with(const char *path, const char *end)
{
	size_t n, n_end = strlen(end);

	if (!path || !n_end)
		return 0;
	n = strlen(path);
	if (n < n_end || strcmp(path + n - n_end, end) != 0)
		return 0;
	return n == n_end || *end == '/' || path[n - n_end - 1] == '/';
}

int filter_is_in(const struct function *function, const char *file)
{
	return path_ends_with(function->file, file);
}

/* "libz" is libz.so.1 as well. */
int filter_is_of(const struct function *function, const char *module)
{
	const char *slash = strrchr(module, '/'), *name = function->module;
	size_t n;

	if (!name)
		return 0;
	if (path_ends_with(name, module) ||
	    (slash && path_ends_with(name, slash + 1)))
		return 1;
	n = strlen(module);
	return !strncmp(name, module, n) && !strncmp(name + n, ".so", 3);
}

static uint8_t judge(const struct filter *f, const struct function *function)
{
	uint8_t verdict = VERDICT_KNOWN;

	if (wording_matches(&f->exclude, function))
		verdict |= VERDICT_EXCLUDED | VERDICT_HIDDEN;
	if ((f->file && !filter_is_in(function, f->file)) ||
	    (f->module && !filter_is_of(function, f->module)))
		verdict |= VERDICT_HIDDEN;
	if (function->is_std && !f->shows_std && !(verdict & VERDICT_HIDDEN))
		verdict |= VERDICT_STD | VERDICT_HIDDEN;
	if (!f->only.word || wording_matches(&f->only, function))
		verdict |= VERDICT_MATCHES;
	if (wording_matches(&f->from, function))
		verdict |= VERDICT_BEGINS;
	if (wording_matches(&f->until, function))
		verdict |= VERDICT_ENDS;
	return verdict;
}

/* A function that has just the name that the user wrote changes what all others
 * are to the filter. */
static void filter_learn(struct filter *f, const struct names *names)
{
	int has_changed = wording_learn(&f->only, names);

	has_changed |= wording_learn(&f->exclude, names);
	has_changed |= wording_learn(&f->from, names);
	has_changed |= wording_learn(&f->until, names);
	if (has_changed && f->n_verdicts)
		memset(f->verdicts, 0, f->n_verdicts);
}

int filter_hear(struct filter *f, const char *symbol)
{
	int has_changed = wording_hear(&f->only, symbol);

	has_changed |= wording_hear(&f->exclude, symbol);
	has_changed |= wording_hear(&f->from, symbol);
	has_changed |= wording_hear(&f->until, symbol);
	if (has_changed && f->n_verdicts)
		memset(f->verdicts, 0, f->n_verdicts);
	return has_changed;
}

static uint8_t verdict_new(struct filter *f, const struct names *names,
			   uint32_t id)
{
	uint8_t verdict;

	filter_learn(f, names);
	verdict = judge(f, &names->functions[id]);
	/* Without memory to keep it, it is worked out again each time. */
	if (array_room(&f->verdicts, &f->n_verdicts, id + 1ull) == 0)
		f->verdicts[id] = verdict;
	return verdict;
}

static inline uint8_t verdict_of(struct filter *f, const struct names *names,
				 uint32_t id)
{
	if (id < f->n_verdicts && f->verdicts[id])
		return f->verdicts[id];
	return verdict_new(f, names, id);
}

int filter_enter(struct filter *f, const struct names *names, uint32_t id,
		 struct filter_state above, struct filter_state *below)
{
	uint8_t verdict = verdict_of(f, names, id);
	int is_inside = above.is_inside || (verdict & VERDICT_MATCHES);
	int is_visible = is_inside && !(verdict & VERDICT_HIDDEN) &&
			 above.depth < f->depth;

	below->depth = above.depth + (uint32_t)is_visible;
	below->is_inside = (uint8_t)is_inside;
	return is_visible;
}

void filter_forget(struct filter *f, uint32_t id)
{
	wording_forget(&f->only, id);
	wording_forget(&f->exclude, id);
	wording_forget(&f->from, id);
	wording_forget(&f->until, id);
	if (id < f->n_verdicts)
		f->verdicts[id] = 0;
}

int filter_is_plain(const struct filter *f)
{
	return !f->only.word && f->depth == UINT32_MAX;
}

int filter_hides(struct filter *f, const struct names *names, uint32_t id)
{
	return !!(verdict_of(f, names, id) & VERDICT_HIDDEN);
}

int filter_excludes(struct filter *f, const struct names *names, uint32_t id)
{
	return !!(verdict_of(f, names, id) & VERDICT_EXCLUDED);
}

int filter_hides_std(struct filter *f, const struct names *names, uint32_t id)
{
	return !!(verdict_of(f, names, id) & VERDICT_STD);
}

int filter_begins(struct filter *f, const struct names *names, uint32_t id)
{
	return !!(verdict_of(f, names, id) & VERDICT_BEGINS);
}

int filter_ends(struct filter *f, const struct names *names, uint32_t id)
{
	return !!(verdict_of(f, names, id) & VERDICT_ENDS);
}
