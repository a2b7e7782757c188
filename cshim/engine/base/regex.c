/* SPDX-License-Identifier: MIT
 *
 * glibc copies what stands before a "+" or a "{m,n}": 40 of them behind each
 * other are as many bytes, and 2^40 nodes.  And from each node it goes all ways
 * that take no character, again and again where there is a loop: (a|b*)? twenty
 * times in a ()* has 3^20.  So both are counted before anything is made.
 */
#include "base/regex.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* One node is some 300 bytes of glibc's, one visit some nanoseconds, and a
 * group a few frames of its stack. */
enum { MOST_NODES = 1 << 16, MOST_VISITS = 1 << 24, MOST_GROUPS = 200 };
static const double FAR_TOO_MUCH = 1e100;

/* Of a part of the expression.  Past what any number can hold it is infinite.
 */
struct part {
	double nodes;
	/* Without a character: nodes visited from its begin, and ways to its
	 * end. */
	double visits, ways;
	/* The most of both from a place in it that has ways to its end, and the
	 * most visits from one that has none. */
	double last_visits, last_ways, inner_visits;
};

static const struct part nothing = {.ways = 1};
static const struct part never = {0};
static const struct part one_character = {1, 1, 0, 1, 1, 0};
/* Nodes behind it are copied, for they have its condition. */
static const struct part anchor = {16, 1, 1, 1, 1, 0};

struct group {
	struct part choices; /* what stands before the last "|" */
	struct part before;  /* behind that, up to the last part */
	struct part last;    /* what a repetition repeats */
};

struct measure {
	struct group groups[MOST_GROUPS];
	int n_open; /* groups[0] is the whole */
};

static double most(double a, double b)
{
	return a > b ? a : b;
}

/* Far too much is enough to know: nothing gets infinite. */
static struct part bounded(struct part p)
{
	double *const all[] = {&p.visits,    &p.ways,	      &p.last_visits,
			       &p.last_ways, &p.inner_visits, &p.nodes};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (*all[i] > FAR_TOO_MUCH)
			*all[i] = FAR_TOO_MUCH;
	return p;
}

static struct part both(struct part a, struct part b)
{
	double visits = a.last_visits + a.last_ways * b.visits;
	double inner = most(a.inner_visits, b.inner_visits);
	struct part p = {a.nodes + b.nodes, a.visits + a.ways * b.visits,
			 a.ways * b.ways,   b.last_visits,
			 b.last_ways,	    inner};

	if (b.ways > 0) {
		p.last_visits = most(p.last_visits, visits);
		p.last_ways = most(p.last_ways, a.last_ways * b.ways);
	} else {
		p.inner_visits = most(inner, visits);
	}
	return bounded(p);
}

static struct part either(struct part a, struct part b)
{
	double visits = a.visits + b.visits + 1, ways = a.ways + b.ways;

	return (struct part){a.nodes + b.nodes + 1,
			     visits,
			     ways,
			     most(visits, most(a.last_visits, b.last_visits)),
			     most(ways, most(a.last_ways, b.last_ways)),
			     most(a.inner_visits, b.inner_visits)};
}

/* From its end on to its begin again, once. */
static struct part any_times(struct part p)
{
	return (struct part){p.nodes + 1,
			     p.visits + 1,
			     1,
			     p.last_visits + (p.last_ways + 1) * (p.visits + 1),
			     p.last_ways + 1,
			     p.inner_visits};
}

static struct part perhaps(struct part p)
{
	return either(p, nothing);
}

static struct part repeated(struct part p, unsigned min, unsigned max)
{
	struct part must = nothing, may = nothing;

	for (; max > min && may.nodes <= MOST_NODES; max--)
		may = perhaps(both(p, may));
	for (; min && must.nodes <= MOST_NODES; min--)
		must = both(must, p);
	return both(must, may);
}

/* More than regcomp() takes are one more. */
static unsigned read_times(const char *p, char **end)
{
	unsigned long n = strtoul(p, end, 10);

	return n > RE_DUP_MAX ? RE_DUP_MAX + 1 : (unsigned)n;
}

/* The "{m,n}", "{m}", "{m,}" at p is taken, or nothing: it is none. */
static const char *take_interval(struct part *last, const char *p)
{
	char *end;
	unsigned min = read_times(p + 1, &end), max = min;
	int is_open = 0;

	if (*end == ',') {
		is_open = end[1] == '}';
		max = read_times(end + 1, &end);
	}
	if (*end != '}')
		return NULL;
	*last = is_open ? both(repeated(*last, min, min), any_times(*last))
			: repeated(*last, min, max);
	return end + 1;
}

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

static void add(struct group *g, struct part p)
{
	g->before = both(g->before, g->last);
	g->last = p;
}

static void begin(struct group *g)
{
	*g = (struct group){never, nothing, nothing};
}

static struct part whole(const struct group *g)
{
	return either(g->choices, both(g->before, g->last));
}

static const char *take_repetition(struct group *g, const char *p)
{
	switch (*p) {
	case '*':
		g->last = any_times(g->last);
		return p + 1;
	case '?':
		g->last = perhaps(g->last);
		return p + 1;
	case '+':
		g->last = both(g->last, any_times(g->last));
		return p + 1;
	default:
		return *p == '{' ? take_interval(&g->last, p) : NULL;
	}
}

/* Behind what stands at p; NULL: these are too many groups. */
static const char *take_one(struct measure *m, const char *p)
{
	struct group *g = &m->groups[m->n_open];
	const char *behind = take_repetition(g, p);

	if (behind)
		return behind;
	switch (*p) {
	case '(':
		if (m->n_open == MOST_GROUPS - 1)
			return NULL;
		begin(&m->groups[++m->n_open]);
		return p + 1;
	case ')':
		if (!m->n_open)
			break;
		add(&m->groups[--m->n_open], whole(g));
		return p + 1;
	case '|':
		g->choices = whole(g);
		g->before = g->last = nothing;
		return p + 1;
	case '^':
	case '$':
		add(g, anchor);
		return p + 1;
	case '[':
		add(g, one_character);
		return skip_brackets(p);
	case '\\':
		add(g, p[1] && strchr("bB<>`'", p[1]) ? anchor : one_character);
		return p[1] ? p + 2 : p + 1;
	default:
		break;
	}
	add(g, one_character);
	return p + 1;
}

/* Of a text that is no regular expression it says anything: regcomp() refuses
 * it. */
static int explodes(const char *text)
{
	struct measure m;
	struct part p;

	if (strlen(text) > MOST_NODES)
		return 1;
	m.n_open = 0;
	begin(&m.groups[0]);
	while (*text) {
		text = take_one(&m, text);
		if (!text)
			return 1;
	}
	p = whole(&m.groups[0]);
	return !(p.nodes <= MOST_NODES &&
		 p.nodes * most(p.last_visits, p.inner_visits) <= MOST_VISITS);
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
