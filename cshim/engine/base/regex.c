/* SPDX-License-Identifier: MIT
 *
 * Most regexes are matched by backtracking, which is fast but can take
 * exponential time.  Once a regex needs too many steps it is matched as an
 * automaton from then on, which is slower, but has the same answer.
 */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/regex.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_BYTES = 1 << 16, /* of a regex */
	MOST_STEPS = 10000,   /* from one place in the text */
	MOST_HEAP_KB = 16384,
	MOST_NESTED = 200, /* calls within PCRE2 itself */
	STATES = 4096,
};

struct regex {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
	int is_automaton;
};

static int bad_regex(const char *text, int code, struct cst_error *err)
{
	PCRE2_UCHAR why[128];

	if (code == PCRE2_ERROR_HEAP_FAILED)
		return cst_fail_memory(err);
	pcre2_get_error_message(code, why, sizeof(why));
	return cst_fail(CST_BAD_INPUT, err, "bad regex '%.100s': %s", text,
			(char *)why);
}

static int compile(struct regex *r, const char *text, struct cst_error *err)
{
	uint32_t options = PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY |
			   PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UTF;
	size_t n = strlen(text), at;
	int code = PCRE2_ERROR_HEAP_FAILED;

	if (n > MOST_BYTES)
		return cst_fail(CST_BAD_INPUT, err,
				"bad regex '%.100s': it is too long", text);
	for (size_t i = 0; i < n; i++)
		if (text[i] & 0x80)
			options = (options & ~PCRE2_NEVER_UTF) | PCRE2_UTF;
	r->code = pcre2_compile((PCRE2_SPTR)text, n, options, &code, &at, NULL);
	if (!r->code)
		return bad_regex(text, code, err);
	r->data = pcre2_match_data_create(1, NULL);
	r->limits = pcre2_match_context_create(NULL);
	if (!r->data || !r->limits)
		return cst_fail_memory(err);
	pcre2_set_match_limit(r->limits, MOST_STEPS);
	pcre2_set_heap_limit(r->limits, MOST_HEAP_KB);
	return 0;
}

int regex_compile(struct regex **out, const char *text, struct cst_error *err)
{
	int status;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return cst_fail_memory(err);
	status = compile(*out, text, err);
	if (status < 0) {
		regex_free(*out);
		*out = NULL;
	}
	return status;
}

void regex_free(struct regex *r)
{
	if (!r)
		return;
	pcre2_code_free(r->code);
	pcre2_match_data_free(r->data);
	pcre2_match_context_free(r->limits);
	free(r);
}

int regex_matches(struct regex *r, const char *text)
{
	const size_t n = strlen(text);
	int states[STATES];

	if (!r->is_automaton) {
		int found = pcre2_match(r->code, (PCRE2_SPTR)text, n, 0, 0,
					r->data, r->limits);

		if (found != PCRE2_ERROR_MATCHLIMIT &&
		    found != PCRE2_ERROR_HEAPLIMIT)
			return found >= 0;
		r->is_automaton = 1;
		pcre2_set_depth_limit(r->limits, MOST_NESTED);
	}
	return pcre2_dfa_match(r->code, (PCRE2_SPTR)text, n, 0,
			       PCRE2_DFA_SHORTEST, r->data, r->limits, states,
			       STATES) >= 0;
}
