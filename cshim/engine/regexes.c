/* SPDX-License-Identifier: MIT
 *
 * glibc copies what stands before a "+" or a "{m,n}": 40 of them behind each
 * other are as many bytes, and 2^40 nodes.  So what would come of it is counted
 * before it is made.
 */
#include "regexes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One node is some 300 bytes of glibc's, and a group a few of its frames; but
 * each node past which a match may go without a character is in the sets of all
 * that are before it, so one of them is as dear as many others. */
enum { MOST_NODES = 1 << 16, EMPTY_NODE = 32, MOST_GROUPS = 200 };

struct measure {
	uint64_t last;	/* nodes of what a repetition would repeat */
	uint64_t total; /* of what is before it */
	uint64_t before[MOST_GROUPS]; /* the total, by open group */
	uint32_t n_open;
};

/* Behind a bracket expression, whose `[` is at p; in it stands anything, also a
 * `]` that is its first character or within [:class:], [=a=], [.a.]. */
static const char *skip_brackets(const char *p)
{
	p += p[1] == '^' ? 2 : 1;
	if (*p == ']')
		p++;
	while (*p && *p != ']') {
		if (*p == '[' && p[1] && strchr(":.=", p[1])) {
			const char end[] = {p[1], ']', '\0'};

			p = strstr(p + 2, end);
			if (!p)
				return "";
			p++;
		}
		p++;
	}
	return *p ? p + 1 : p;
}

/* Behind "{m,n}" at p, how often it repeats in *times, and how many of these
 * may be left out in *may; or NULL: it is none. */
static const char *read_interval(const char *p, uint64_t *times, uint64_t *may)
{
	char *end;
	unsigned long min = strtoul(++p, &end, 10), max = min;

	if (*end == ',')
		max = strtoul(end + 1, &end, 10);
	*times = max > min ? max : min;
	*may = *times - min;
	return *end == '}' ? end + 1 : NULL;
}

static void add(struct measure *m, uint64_t nodes)
{
	m->total += m->last;
	m->last = nodes;
}

static const char *take_one(struct measure *m, const char *p)
{
	const char *behind;
	uint64_t times, may;

	switch (*p) {
	case '(':
		add(m, 0);
		if (m->n_open == MOST_GROUPS)
			return NULL;
		m->before[m->n_open++] = m->total;
		return p + 1;
	case ')':
		add(m, 1);
		if (m->n_open) {
			m->last += m->total - m->before[--m->n_open];
			m->total = m->before[m->n_open];
		}
		return p + 1;
	case '*':
	case '?':
		m->last += EMPTY_NODE;
		return p + 1;
	case '+':
		m->last = 2 * m->last + EMPTY_NODE;
		return p + 1;
	case '|':
		add(m, EMPTY_NODE);
		return p + 1;
	case '{':
		behind = read_interval(p, &times, &may);
		if (!behind)
			break;
		m->last = times > MOST_NODES
				  ? times
				  : m->last * (times + 1) + may * EMPTY_NODE;
		return behind;
	case '[':
		add(m, 1);
		return skip_brackets(p);
	case '\\':
		add(m, 1);
		return p[1] ? p + 2 : p + 1;
	default:
		break;
	}
	add(m, 1);
	return p + 1;
}

/* Of a text that is no regular expression it says anything: regcomp() refuses
 * it. */
static int explodes(const char *text)
{
	struct measure m = {0};

	while (*text) {
		text = take_one(&m, text);
		if (!text || m.last + m.total > MOST_NODES)
			return 1;
	}
	return 0;
}

int regex_compile(regex_t *out, const char *text, struct cst_error *err)
{
	char why[128];
	int code;

	if (explodes(text))
		return cst_fail(CST_BAD_INPUT, err,
				"bad regex '%.100s': it repeats too much",
				text);
	code = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
	if (!code)
		return 0;
	regerror(code, out, why, sizeof(why));
	return cst_fail(CST_BAD_INPUT, err, "bad regex '%.200s': %s", text,
			why);
}
