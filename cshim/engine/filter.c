/* SPDX-License-Identifier: MIT
 *
 * The regexes run once for each function; after that a call costs one look
 * into a table of verdicts.
 */
#include "filter.h"
#include "regexes.h"

#include <stdlib.h>
#include <string.h>

enum verdict {
	VERDICT_KNOWN = 1,
	VERDICT_HIDDEN = 2,   /* excluded, or the library's */
	VERDICT_MATCHES = 4,  /* the filter, or there is none */
	VERDICT_EXCLUDED = 8, /* by the user's own word */
};

struct pattern {
	regex_t regex;
	int is_set;
};

struct filter {
	struct pattern only, exclude;
	uint32_t depth; /* UINT32_MAX: all */
	int shows_std;
	uint8_t *verdicts; /* by function */
	uint32_t n_verdicts;
};

static int pattern_compile(struct pattern *p, const char *text,
			   struct cst_error *err)
{
	int status;

	if (!text)
		return 0;
	status = regex_compile(&p->regex, text, err);
	p->is_set = status == 0;
	return status;
}

static int pattern_matches(const struct pattern *p, const char *name)
{
	return p->is_set && !regexec(&p->regex, name, 0, NULL, 0);
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
	status = pattern_compile(&f->only, choice->filter, err);
	if (status == 0)
		status = pattern_compile(&f->exclude, choice->exclude, err);
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
	if (f->only.is_set)
		regfree(&f->only.regex);
	if (f->exclude.is_set)
		regfree(&f->exclude.regex);
	free(f->verdicts);
	free(f);
}

struct filter_state filter_root(const struct filter *f)
{
	return (struct filter_state){.depth = 0, .is_inside = !f->only.is_set};
}

static uint8_t judge(const struct filter *f, const struct function *function)
{
	uint8_t verdict = VERDICT_KNOWN;

	if (pattern_matches(&f->exclude, function->name))
		verdict |= VERDICT_EXCLUDED | VERDICT_HIDDEN;
	if (function->is_std && !f->shows_std)
		verdict |= VERDICT_HIDDEN;
	if (!f->only.is_set || pattern_matches(&f->only, function->name))
		verdict |= VERDICT_MATCHES;
	return verdict;
}

static void verdicts_grow(struct filter *f, const struct names *names,
			  uint32_t id)
{
	uint64_t n = id + 1ull + id / 2;
	uint8_t *p;

	if (n < names->n_functions)
		n = names->n_functions;
	if (n > UINT32_MAX)
		n = UINT32_MAX;
	p = realloc(f->verdicts, n);
	if (!p)
		return;
	memset(p + f->n_verdicts, 0, n - f->n_verdicts);
	f->verdicts = p;
	f->n_verdicts = (uint32_t)n;
}

static uint8_t verdict_new(struct filter *f, const struct names *names,
			   uint32_t id)
{
	uint8_t verdict = judge(f, &names->functions[id]);

	if (id >= f->n_verdicts)
		verdicts_grow(f, names, id);
	/* Without memory to keep it, it is worked out again each time. */
	if (id < f->n_verdicts)
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
	if (id < f->n_verdicts)
		f->verdicts[id] = 0;
}

int filter_excludes(struct filter *f, const struct names *names, uint32_t id)
{
	return !!(verdict_of(f, names, id) & VERDICT_EXCLUDED);
}
