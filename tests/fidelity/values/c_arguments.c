/* SPDX-License-Identifier: MIT
 *
 * Arguments and results of C: all kinds of numbers, characters, enums, flags,
 * texts, pointers to functions and to data, structs in registers and in memory,
 * more arguments than there are registers, and pointers that lead nowhere.
 */
#include "tell.h"

#include <float.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum color { RED, GREEN = 5, BLUE = -2 };
enum mode { READ = 1, WRITE = 2, APPEND = 4, SYNC = 0x100 };
typedef enum { SMALL = 200, LARGE } size_kind;

struct point {
	int x, y;
};
struct mixed {
	double d;
	long n;
};
struct floats {
	float a, b, c;
};
struct named {
	const char *name;
	int age;
	bool is_here;
	enum color color;
};
struct nested {
	struct point from;
	int n;
};
struct large {
	long a[9];
};
struct bits {
	unsigned a : 3, b : 5;
};
union either {
	int i;
	float f;
};
typedef struct point point_t;
typedef int (*binary_fn)(int, int);

int counter;
static long limits[4];
struct point origin;
const char *volatile greeting = "hello";

/* ---- numbers --------------------------------------------------------------
 */

OWN int ints(signed char a, short b, int c, long d, long long e)
{
	tell("ints(a=%d, b=%d, c=%d, d=%ld, e=%lld) = %d", a, b, c, d, e,
	     a + b);
	return a + b;
}

OWN unsigned long unsigneds(unsigned char a, unsigned short b, unsigned c,
			    unsigned long d, uint64_t e)
{
	tell("unsigneds(a=%u, b=%u, c=%u, d=%lu, e=%lu) = %lu", a, b, c, d, e,
	     d | e);
	return d | e;
}

OWN bool bools(bool a, _Bool b)
{
	tell("bools(a=%s, b=%s) = %s", a ? "true" : "false",
	     b ? "true" : "false", a != b ? "true" : "false");
	return a != b;
}

OWN char chars(char a, char b, unsigned char c)
{
	tell("chars(a='%c', b='%s%c', c=%d) = '%c'", a, b == '\'' ? "\\" : "",
	     b, c, a);
	return a;
}

OWN double floats(float a, double b, long double c)
{
	tell("floats(a=%g, b=%g, c=%Lg) = %g", (double)a, b, c, b * 2);
	return b * 2;
}

OWN float one_float(float a)
{
	tell("one_float(a=%g) = %g", (double)a, (double)(a / 2));
	return a / 2;
}

OWN long double long_double(long double a)
{
	tell("long_double(a=%Lg) = %Lg", a, a * 4);
	return a * 4;
}

OWN short narrow(int a)
{
	tell("narrow(a=%d) = %d", a, (short)a);
	return (short)a;
}

static OWN int narrow_it(int a)
{
	tell("narrow_it(a=%d) = %d", a, (signed char)a);
	return (signed char)a;
}

OWN unsigned char narrower(int a)
{
	tell("narrower(a=%d) = %d", a, (unsigned char)a);
	return (unsigned char)a;
}

OWN long many(int a, long b, char c, int d, unsigned e, long f, int g, long h,
	      char i, short j)
{
	tell("many(a=%d, b=%ld, c='%c', d=%d, e=%u, f=%ld, g=%d, h=%ld, "
	     "i='%c', j=%d) = %ld",
	     a, b, c, d, e, f, g, h, i, j, b + h);
	return b + h;
}

OWN double many_floats(double a, float b, double c, double d, double e,
		       double f, double g, double h, double i, float j, int k)
{
	tell("many_floats(a=%g, b=%g, c=%g, d=%g, e=%g, f=%g, g=%g, h=%g, "
	     "i=%g, j=%g, k=%d) = %g",
	     a, (double)b, c, d, e, f, g, h, i, (double)j, k, i);
	return i;
}

OWN int variadic(int n, ...)
{
	tell("variadic(n=%d) = %d", n, n + 1);
	return n + 1;
}

OWN int constant(int unused)
{
	(void)unused;
	tell("constant(unused=%d) = 42", unused);
	return 42;
}

OWN void nothing(void)
{
	tell("nothing");
}

/* ---- enums ----------------------------------------------------------------
 */

static UNTRACED const char *color_name(enum color c)
{
	static char number[16];

	snprintf(number, sizeof(number), "%d", (int)c);
	return c == RED	    ? "RED"
	       : c == GREEN ? "GREEN"
	       : c == BLUE  ? "BLUE"
			    : number;
}

OWN enum color enums(enum color c, size_kind k)
{
	tell("enums(c=%s, k=%s) = %s", color_name(c),
	     k == SMALL ? "SMALL" : "LARGE", color_name(c));
	return c;
}

OWN void flags(enum mode m, const char *want)
{
	tell("flags(m=%s, want=\"%s\")", want, want);
	(void)m;
	counter += (int)m;
}

/* ---- texts ----------------------------------------------------------------
 */

static UNTRACED const char *named(const void *p);

/* In the quotes of a row, or cut. */
static UNTRACED const char *quoted(const char *s)
{
	static char text[8][256];
	static int i;
	char *p = text[i = (i + 1) % 8];

	if (!s)
		return strcpy(p, "NULL");
	*p++ = '"';
	for (int n = 0; s[n] && n < 32; n++) {
		if (s[n] == '"' || s[n] == '\\')
			*p++ = '\\';
		*p++ = s[n];
	}
	strcpy(p, strlen(s) > 32 ? "\"..." : "\"");
	return text[i];
}

OWN const char *texts(const char *a, char *b, const signed char *c)
{
	tell("texts(a=%s, b=%s, c=%s) = %s", quoted(a), quoted(b), named(c),
	     quoted(b));
	return b;
}

OWN int many_texts(const char *a, const char *b, const char *c, const char *d,
		   const char *e, const char *f, const char *g)
{
	tell("many_texts(a=%s, b=%s, c=%s, d=%s, e=%s, f=%s, g=%s) = 7",
	     quoted(a), quoted(b), quoted(c), quoted(d), quoted(e), quoted(f),
	     quoted(g));
	return 7;
}

/* ---- pointers -------------------------------------------------------------
 */

static UNTRACED const char *named(const void *p)
{
	static char text[4][32];
	static int i;

	if (p == (const void *)&counter)
		return "counter";
	if (p == (const void *)limits)
		return "limits";
	if (p == (const void *)&origin)
		return "origin";
	if (!p)
		return "0x0";
	i = (i + 1) % 4;
	snprintf(text[i], sizeof(text[i]), "%p", p);
	return text[i];
}

OWN int add(int a, int b)
{
	tell("add(a=%d, b=%d) = %d", a, b, a + b);
	return a + b;
}

/* It tells after add has. */
OWN int functions(binary_fn f, int (*g)(int), void (*h)(void))
{
	tell("functions(f=add, g=narrow_it, h=%s) = 8", h ? "nothing" : "0x0");
	return f && g ? 8 : 0;
}

OWN void *data(int *a, long *b, const struct point *c, void *d, int *const *e)
{
	tell("data(a=%s, b=%s, c=%s, d=%s, e=%s) = %s", named(a), named(b),
	     named(c), named(d), named(e), named(d));
	return d;
}

OWN binary_fn chosen(int n)
{
	tell("chosen(n=%d) = add", n);
	return add;
}

OWN int *place(int n)
{
	tell("place(n=%d) = %s", n, n ? "counter" : "0x0");
	return n ? &counter : NULL;
}

/* Not looked at by the program itself. */
OWN void bad(const char *a, const char *b, const int *c)
{
	tell("bad(a=<cannot read>, b=<cannot read>, c=%p)", (const void *)c);
	counter += a == b;
}

OWN int at_the_end(const char *a)
{
	tell("at_the_end(a=\"end\") = 3");
	return a ? 3 : 0;
}

/* ---- structs --------------------------------------------------------------
 */

OWN struct point points(struct point p, point_t q)
{
	struct point sum = {p.x + q.x, p.y + q.y};

	tell("points(p={x=%d, y=%d}, q={x=%d, y=%d}) = {x=%d, y=%d}", p.x, p.y,
	     q.x, q.y, sum.x, sum.y);
	return sum;
}

OWN struct mixed mixed(struct mixed m, float f)
{
	tell("mixed(m={d=%g, n=%ld}, f=%g) = {d=%g, n=%ld}", m.d, m.n,
	     (double)f, m.d, m.n);
	return m;
}

OWN struct floats three(struct floats f)
{
	tell("three(f={a=%g, b=%g, c=%g}) = {a=%g, b=%g, c=%g}", (double)f.a,
	     (double)f.b, (double)f.c, (double)f.a, (double)f.b, (double)f.c);
	return f;
}

OWN struct named people(struct named p)
{
	tell("people(p={name=%s, age=%d, is_here=%s, color=%s}) = "
	     "{name=%s, age=%d, is_here=%s, color=%s}",
	     quoted(p.name), p.age, p.is_here ? "true" : "false",
	     color_name(p.color), quoted(p.name), p.age,
	     p.is_here ? "true" : "false", color_name(p.color));
	return p;
}

OWN void others(struct nested a, struct large b, struct bits c, union either d)
{
	tell("others(a={...}, b={...}, c={...}, d={...})");
	counter += a.n + (int)b.a[8] + (int)c.a + d.i;
}

OWN struct large large(int n)
{
	struct large l = {{n}};

	tell("large(n=%d)", n);
	return l;
}

OWN long behind_memory(struct large l, int a, struct named p, long b)
{
	tell("behind_memory(l={...}, a=%d, p={name=%s, age=%d, is_here=%s, "
	     "color=%s}, b=%ld) = %ld",
	     a, quoted(p.name), p.age, p.is_here ? "true" : "false",
	     color_name(p.color), b, l.a[0]);
	return l.a[0];
}

/* ---- ways to be called ----------------------------------------------------
 */

static inline __attribute__((always_inline)) int inlined(int a, const char *s)
{
	tell("inlined(a=%d, s=%s)", a, quoted(s));
	return a;
}

OWN int calls_inlined(int a)
{
	int n;

	tell("calls_inlined(a=%d) = %d", a, 2 * a + 1);
	n = inlined(a, "first");
	return n + inlined(a + 1, greeting);
}

OWN long down(long n, long sum)
{
	long whole = n ? down(n - 1, sum + n) : sum;

	tell("down(n=%ld, sum=%ld) = %ld", n, sum, whole);
	return whole;
}

OWN int with_array(int n)
{
	volatile char room[n + 1];
	int used;

	room[n] = 1;
	used = room[n] + n;
	tell("with_array(n=%d) = %d", n, used);
	return used;
}

OWN int aligned(int n, const char *s)
{
	volatile char room[64] __attribute__((aligned(64)));

	room[0] = (char)n;
	tell("aligned(n=%d, s=%s) = %d", n, quoted(s), n);
	return n + room[0] - room[0];
}

static UNTRACED int many_calls(void)
{
	static const char *volatile texts_of[] = {
		"",
		"plain",
		"with \"quotes\" and a \\",
		"exactly thirty-two bytes of text",
		"thirty-three bytes of text here..",
		"a text that goes on and on, and is cut"};
	volatile int n = 3;
	int local = 1;

	for (int i = 0; i < 6; i++) {
		char *heap = strdup(texts_of[i]);

		texts(texts_of[i], heap, (const signed char *)heap);
		free(heap);
	}
	texts(NULL, NULL, NULL);
	many_texts(texts_of[1], texts_of[2], texts_of[3], texts_of[4],
		   texts_of[5], texts_of[0], texts_of[1]);
	functions(add, narrow_it, n ? nothing : NULL);
	functions(add, narrow_it, n ? NULL : nothing);
	data(&counter, limits, &origin, NULL, NULL);
	data(&local, NULL, NULL, &counter, NULL);
	chosen(n);
	place(n);
	place(n - 3);
	return local;
}

static UNTRACED void structs(void)
{
	volatile int n = 7;
	struct named ann = {"Ann", 31, true, GREEN};
	struct named bob = {NULL, -1, false, (enum color)77};

	points((struct point){n, -n}, (struct point){INT_MAX - n, INT_MIN + n});
	mixed((struct mixed){n * 1.5, -n}, (float)n);
	three((struct floats){(float)n, n * -0.5f, 0});
	people(ann);
	people(bob);
	others((struct nested){{n, n}, n}, (struct large){{n}},
	       (struct bits){1, 2}, (union either){n});
	large(n);
	behind_memory((struct large){{n}}, n, ann, n * 1000000000000);
}

static UNTRACED void bad_pointers(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	strcpy(pages + 4096 - 4, "end");
	mprotect(pages + 4096, 4096, PROT_NONE);
	bad((const char *)8, pages + 5000, (const int *)16);
	bad((const char *)0x8000000000000000, (const char *)-9,
	    (const int *)-1);
	at_the_end(pages + 4096 - 4);
}

static UNTRACED void numbers(void)
{
	volatile int n = 1;

	ints(SCHAR_MIN, SHRT_MIN, INT_MIN, LONG_MIN, LLONG_MIN);
	ints(SCHAR_MAX, SHRT_MAX, INT_MAX, LONG_MAX, LLONG_MAX);
	ints((signed char)-n, (short)-n, -n, -n, -n);
	unsigneds(UCHAR_MAX, USHRT_MAX, UINT_MAX, ULONG_MAX, UINT64_MAX);
	unsigneds((unsigned char)n, 0, 1, 2, 3);
	bools(n, !n);
	bools(n, n);
	chars((char)('a' + n), '\'', 200);
	floats(1.5f * (float)n, -2.25 * n, 1e100L * n);
	floats(0, -0.0, 3);
	one_float((float)n);
	long_double(n * 0.125L);
	narrow(70000 * n);
	narrow(-n);
	narrower(300 * n);
	narrow_it(200 * n);
	many(n, -n, 'c', 4, 5, 6, 7, 8L << 40, 'i', -10);
	many_floats(n, 2, 3, 4, 5, 6, 7, 8, 9.5, 10.5f, -11);
	variadic(n, 1, "two", 3.0);
	constant(n);
	nothing();
	enums(GREEN, SMALL);
	enums(BLUE, LARGE);
	enums((enum color)(n + 8), LARGE);
	flags(READ, "READ");
	flags(WRITE | SYNC, "WRITE|SYNC");
	flags((enum mode)(READ | 0x40), "READ|0x40");
	flags((enum mode)0, "0");
}

UNTRACED int main(int argc, char **argv)
{
	volatile int n = 20;

	/* They lie above all frames. */
	texts(argv[argc - 1], argv[0], NULL);

	numbers();
	many_calls();
	structs();
	bad_pointers();
	calls_inlined(n);
	down(n - 17, 0);
	with_array(n);
	aligned(n, greeting);
	return 0;
}
