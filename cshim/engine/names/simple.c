/* SPDX-License-Identifier: MIT
 *
 * Makes simple names from demangled ones, in time linear in their length and
 * without recursion.
 */
#include "names/simple.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum {
	MOST_LAMBDA = 24, /* bytes of a lambda's parameters */
	MOST_PARAMETERS = 40,
};

static const char anonymous[] = "(anonymous namespace)";

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c & 0x80;
}

/* Returns the place behind the bracket that closes the one at p, or the end.
 * Inside <> a round bracket may hold a bare < or >, so round ones nest for
 * themselves. */
static const char *skip_brackets(const char *p)
{
	unsigned angle = 0, round = 0, curly = 0;

	for (; *p; p++) {
		if (*p == '(')
			round++;
		else if (*p == ')' && round)
			round--;
		else if (*p == '{')
			curly++;
		else if (*p == '}' && curly)
			curly--;
		else if (*p == '<' && !round)
			angle++;
		else if (*p == '>' && !round && angle && p[-1] != '-')
			angle--;
		if (!angle && !round && !curly)
			return p + 1;
	}
	return p;
}

/* ---- where it begins ------------------------------------------------------
 */

/* Is it a part of the name, not "[clone .cold]" or "(*"? */
static int starts_name(const char *p)
{
	return (*p != '[' && *p != '(') || text_begins(p, anonymous);
}

static int is_operator(const char *name, const char *p)
{
	return (p == name || !is_word(p[-1])) && text_begins(p, "operator") &&
	       !is_word(p[8]);
}

/* Returns the beginning of the last word before the parameters, which are at
 * *stop (or the operator, or the end). */
static const char *last_word(const char *name, const char **stop)
{
	const char *begin = name, *p = name;

	while (*p && !is_operator(name, p)) {
		int at_word = p == name || !is_word(p[-1]);

		if (at_word && text_begins(p, "decltype")) {
			p += strlen("decltype");
			p += *p == ' ';
			p = *p == '(' ? skip_brackets(p) : p;
		} else if (text_begins(p, anonymous)) {
			p += strlen(anonymous);
		} else if (*p == '(') {
			break;
		} else if (*p == '<' || *p == '{') {
			p = skip_brackets(p);
		} else if (*p++ == ' ' && starts_name(p)) {
			begin = p;
		}
	}
	*stop = p;
	return begin;
}

/* p is behind the round bracket of "void (*pick<int>(char))(int)", which
 * returns a function's address.  Returns where "pick" begins. */
static const char *skip_declarator(const char *p)
{
	for (;;) {
		size_t n = strspn(p, "*& ");
		size_t class = 0;

		if (!n && *p == '(')
			n = 1;
		else if (!n)
			class = strcspn(p, "*<({ ");
		if (class > 1 && p[class] == '*' && p[class - 1] == ':')
			n = class;
		if (!n)
			return p;
		p += n;
	}
}

const char *simple_qualified(const char *name)
{
	const char *stop, *begin = last_word(name, &stop);

	if (*stop == '(' && stop > name && stop[-1] == ' ')
		return skip_declarator(stop + 1);
	return begin;
}

/* ---- what is written ------------------------------------------------------
 */

/* Text that is cut where its buffer ends. */
struct cut {
	char *out;
	unsigned n, size; /* without the NUL */
};

static void put(struct cut *c, const char *text, size_t n)
{
	if (n > c->size - c->n)
		n = c->size - c->n;
	memcpy(c->out + c->n, text, n);
	c->n += (unsigned)n;
}

static void put_word(struct cut *c, const char *text)
{
	put(c, text, strlen(text));
}

/* "{lambda(int)#1}"; p is at its bracket.  Returns the place behind. */
static const char *put_braces(struct cut *c, const char *p)
{
	static const char lambda[] = "{lambda(";
	const char *end = skip_brackets(p), *open, *close;

	if (!text_begins(p, lambda)) {
		put(c, p, (size_t)(end - p));
		return end;
	}
	open = p + strlen(lambda);
	close = skip_brackets(open - 1);
	if (close - open > MOST_LAMBDA) {
		put_word(c, "{lambda(...)");
		p = close;
	}
	put(c, p, p < end ? (size_t)(end - p) : 0);
	return end;
}

/* "operator<< <int>" without its template's arguments, or "operator int"; p is
 * at the word.  Returns the place behind. */
static const char *put_operator(struct cut *c, const char *p)
{
	static const char *const symbols[] = {
		"()", "[]", "->*", "<=>", "<<=", ">>=", "->", "++", "--", "&&",
		"||", "==", "!=",  "<=",  ">=",	 "<<",	">>", "+=", "-=", "*=",
		"/=", "%=", "^=",  "&=",  "|=",	 "+",	"-",  "*",  "/",  "%",
		"^",  "&",  "|",   "~",	  "!",	 "=",	"<",  ">",  ",",
	};
	size_t n = strlen("operator");

	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		if (!text_begins(p + n, symbols[i]))
			continue;
		n += strlen(symbols[i]);
		put(c, p, n);
		if (p[n] == ' ' && p[n + 1] == '<')
			put(c, p + n++, 1);
		return p + n;
	}
	put(c, p, n);
	p += n;
	/* new[], a suffix, or a type: "operator void (*)(int)()" */
	while (*p && (*p != '(' || text_begins(p, anonymous) || p[1] == '*' ||
		      p[1] == '&')) {
		const char *end = *p == '(' ? skip_brackets(p) : p + 1;

		if (*p == '(' && !text_begins(p, anonymous) && *end == '(')
			end = skip_brackets(end);
		if (*p == '<') {
			put_word(c, "<...>");
			p = skip_brackets(p);
			continue;
		}
		put(c, p, (size_t)(end - p));
		p = end;
	}
	return p;
}

/* Returns the place behind the namespace that a type's name begins with at p; p
 * itself: it begins with none. */
static const char *skip_namespace(const char *p)
{
	const char *end = p;

	if (text_begins(p, anonymous))
		end += strlen(anonymous);
	else
		while (is_word(*end))
			end++;
	return end > p && text_begins(end, "::") ? end + 2 : p;
}

/* What stands between the brackets of a parameter list, without templates'
 * arguments, namespaces, and "const&". */
static void put_parameters(struct cut *c, const char *p, const char *end)
{
	static const char string[] = "std::__cxx11::basic_string<char,";
	static const char by_reference[] =
		" const&"; /* is as good as by value */
	unsigned size = c->size;

	put(c, p++, 1);
	end--;
	if (c->size - c->n > MOST_PARAMETERS)
		c->size = c->n + MOST_PARAMETERS;
	while (p < end && c->n < c->size) {
		if (text_begins(p, string)) {
			put_word(c, "std::string");
			p = skip_brackets(p + strlen(string) - 6);
		} else if (*p == '<') {
			put_word(c, "<...>");
			p = skip_brackets(p);
		} else if (text_begins(p, by_reference) &&
			   p[strlen(by_reference)] != '&') {
			p += strlen(by_reference);
		} else if (!is_word(p[-1]) && skip_namespace(p) > p) {
			p = skip_namespace(p);
		} else if (*p == '{') { /* a lambda */
			put_word(c, "{...}");
			p = skip_brackets(p);
		} else if (*p == '(' && !text_begins(p, anonymous) &&
			   text_begins(skip_brackets(p), "::")) {
			p = skip_brackets(p); /* of the one that it is in */
		} else {
			put(c, p++, 1);
		}
	}
	c->size = size;
	put_word(c, p < end ? "...)" : ")");
}

/* Returns the place behind " const", "&&" and "[abi:cxx11]". */
static const char *skip_qualifiers(const char *p)
{
	static const char *const words[] = {" const", " volatile", " &&", " &",
					    " noexcept"};
	size_t i = 0;

	while (i < sizeof(words) / sizeof(*words)) {
		if (text_begins(p, words[i]) && !is_word(p[strlen(words[i])])) {
			p += strlen(words[i]);
			i = 0;
		} else {
			i++;
		}
	}
	return p;
}

/* Is what c ends with from `at` on the one function that a lambda has? */
static int is_lambdas(const struct cut *c, unsigned at)
{
	unsigned n = at;

	if (at && c->out[at - 1] == '}')
		return 1;
	while (n && isdigit((unsigned char)c->out[n - 1]))
		n--;
	return n >= 2 && n < at && c->out[n - 1] == '_' && c->out[n - 2] == '$';
}

/* A lambda is its call operator: "main::{lambda(int)#1}". */
static void drop_call_operator(struct cut *c)
{
	static const char *const ends[] = {"::operator()", "::operator()<...>"};

	for (int i = 0; i < 2; i++) {
		unsigned n = (unsigned)strlen(ends[i]);

		if (c->n > n && !memcmp(c->out + c->n - n, ends[i], n) &&
		    is_lambdas(c, c->n - n))
			c->n -= n;
	}
}

/* Writes the simple name; returns the parameters, or NULL where there are
 * none: then it was not a demangled function. */
static const char *put_simple(struct cut *c, const char *name)
{
	const char *begin = simple_qualified(name), *p = begin;

	while (*p) {
		if (text_begins(p, anonymous)) {
			put_word(c, anonymous);
			p += strlen(anonymous);
		} else if (is_operator(begin, p)) {
			p = put_operator(c, p);
		} else if (*p == '<') {
			/* "<T as Trait>::f" is Rust's */
			if (p == begin)
				return NULL;
			put_word(c, "<...>");
			p = skip_brackets(p);
		} else if (*p == '{') {
			p = put_braces(c, p);
		} else if (text_begins(p, "[abi:")) {
			p += strcspn(p, "]");
			p += *p == ']';
		} else if (*p == '(') {
			const char *after = skip_brackets(p);

			if (after[-1] != ')')
				return NULL;
			drop_call_operator(c);
			after = skip_qualifiers(after);
			if (!text_begins(after, "::"))
				return p;
			p = after;
		} else if (*p == ' ') {
			return NULL;
		} else {
			put(c, p++, 1);
		}
	}
	return NULL;
}

/* Returns the place behind the part of a qualified name that begins at p. */
static unsigned part_end(const struct cut *c, unsigned p)
{
	if (is_operator(c->out, c->out + p))
		return c->n;
	while (p < c->n && c->out[p] != ':') {
		unsigned end = (unsigned)(skip_brackets(c->out + p) - c->out);

		p = strchr("({<", c->out[p]) ? end : p + 1;
	}
	return p;
}

/* Is the part a lambda or another thing that only its function names? */
static int is_nameless(const struct cut *c, unsigned part)
{
	return c->out[part] == '{' ||
	       (c->out[part] == '$' && c->out[part + 1] == '_');
}

/* Leaves a function and what holds it, "DBImpl::Write": nobody says the
 * namespaces around it.  A lambda stays below its function. */
static void drop_namespaces(struct cut *c)
{
	unsigned holder = 0, last = 0, begin, part, end;
	int has_holder = 0, has_last = 0;

	c->out[c->n] = '\0';
	for (part = 0; part < c->n; part = end) {
		while (part < c->n && c->out[part] == ':')
			part++;
		end = part_end(c, part);
		if (part == c->n || text_begins(c->out + part, anonymous))
			continue;
		if (is_nameless(c, part) && has_last)
			break;
		holder = last;
		has_holder = has_last;
		last = part;
		has_last = 1;
	}
	if (!has_last)
		return;
	begin = has_holder ? holder : last;
	/* What stands between the two is an anonymous namespace. */
	end = has_holder ? part_end(c, holder) : last;
	if (has_holder && end + 2 < last) {
		memmove(c->out + end + 2, c->out + last, c->n - last);
		c->n -= last - end - 2;
	}
	memmove(c->out, c->out + begin, c->n - begin);
	c->n -= begin;
}

static unsigned finish(struct cut *c)
{
	if (c->n == c->size)
		memcpy(c->out + c->n - 3, "...", 3);
	c->out[c->n] = '\0';
	return c->n;
}

enum { WITH_NAMESPACES = 1, WITH_PARAMETERS = 2, WITH_QUALIFIERS = 4 };

static unsigned simplify(const char *name, char *out, unsigned size, int with)
{
	struct cut c = {.out = out, .size = size - 1};
	const char *parameters = put_simple(&c, name), *end;

	if (!parameters || !c.n) {
		c.n = 0;
		put_word(&c, name);
		return finish(&c);
	}
	if (!(with & WITH_NAMESPACES))
		drop_namespaces(&c);
	if (with & WITH_PARAMETERS) {
		end = skip_brackets(parameters);
		put_parameters(&c, parameters, end);
	}
	if (with & WITH_QUALIFIERS) {
		end = skip_brackets(parameters);
		put(&c, end, (size_t)(skip_qualifiers(end) - end));
	}
	return finish(&c);
}

unsigned simple_name(const char *name, char *out, unsigned size)
{
	return simplify(name, out, size, 0);
}

unsigned simple_signature(const char *name, char *out, unsigned size)
{
	return simplify(name, out, size, WITH_PARAMETERS | WITH_QUALIFIERS);
}

unsigned simple_parameters(const char *name, char *out, unsigned size)
{
	return simplify(name, out, size, WITH_PARAMETERS);
}

unsigned simple_long(const char *name, char *out, unsigned size)
{
	return simplify(name, out, size, WITH_NAMESPACES);
}

const char *simple_scoped(const char *qualified, const char *simple)
{
	size_t n = strlen(qualified), n_simple = strlen(simple);
	struct cut c = {.out = (char *)qualified, .n = (unsigned)n};
	unsigned part = 0, end;

	if (n <= n_simple + 2 || strcmp(qualified + n - n_simple, simple) != 0)
		return qualified;
	for (;;) {
		end = part_end(&c, part);
		if (end + 2 + n_simple >= n)
			break;
		part = end + 2;
	}
	return text_begins(qualified + part, anonymous) ? qualified
							: qualified + part;
}
