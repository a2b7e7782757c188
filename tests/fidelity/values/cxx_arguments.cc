/* SPDX-License-Identifier: MIT
 *
 * Arguments and results of C++: `this` in all kinds of members, references,
 * strings and views, vectors' and smart pointers' heads, small classes, enum
 * classes, templates, functions with a place for their result, and
 * virtual ones that are called by another base.
 */
#include "tell.h"

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#define TEXT_MAX 32

#ifdef __clang__
/* clang's hooks name functions of it that are nowhere else. */
template class std::basic_string<char>;
#endif

enum class Mood { Calm, Angry = 7 };
enum class Bits : unsigned char { A = 1, B = 2, C = 4, Top = 0x80 };
namespace shop
{
enum Kind { BOOK, TOY };
} // namespace shop

struct Point {
	int x, y;
};
struct Line {
	Point from;
	int n;
};
struct Owned {
	UNTRACED Owned(int n) : n(n)
	{
	}
	UNTRACED Owned(const Owned &other) : n(other.n)
	{
	}
	UNTRACED ~Owned()
	{
	}
	int n;
};

int counter;
Point origin = {3, 4};
std::string title = "a title";

/* ---- as rows have it ------------------------------------------------------
 */

UNTRACED static const char *keep(const std::string &text)
{
	static char rooms[8][300];
	static int i;

	i = (i + 1) % 8;
	snprintf(rooms[i], sizeof(rooms[i]), "%s", text.c_str());
	return rooms[i];
}

UNTRACED static const char *quoted(std::string_view s)
{
	std::string out = "\"";

	for (char c : s.substr(0, TEXT_MAX)) {
		if (c == '"' || c == '\\')
			out += '\\';
		out += c;
	}
	return keep(out + (s.size() > TEXT_MAX ? "\"..." : "\""));
}

UNTRACED static const char *address(const volatile void *p)
{
	char text[32];

	snprintf(text, sizeof(text), p ? "%p" : "0x0", p);
	return keep(text);
}

template <typename T>
UNTRACED static const char *head(const std::vector<T> &v, const char *format)
{
	size_t shown = sizeof(T) <= 16 ? 16 / sizeof(T) : 0;
	std::string out = "[" + std::to_string(v.size()) + "]{";

	for (size_t i = 0; i < v.size() && i < shown; i++) {
		char text[32];

		snprintf(text, sizeof(text), format, v[i]);
		out += (i ? ", " : "") + std::string(text);
	}
	if (v.size() > shown)
		out += shown ? ", ..." : "...";
	return keep(out + "}");
}

/* ---- functions ------------------------------------------------------------
 */

OWN int references(int &a, const long &b, int &&c, double &d)
{
	tell("references(a=%d, b=%ld, c=%d, d=%g) = %d", a, b, c, d, a + c);
	return a + c;
}

OWN void of_classes(const Point &p, Point &q, Line &l, int *&r)
{
	tell("of_classes(p={x=%d, y=%d}, q={x=%d, y=%d}, l=%s, r=%s)", p.x, p.y,
	     q.x, q.y, address(&l), address(r));
	counter += p.x + q.x;
}

OWN int &referred(int &a, int n)
{
	tell("referred(a=%d, n=%d) = %d", a, n, a);
	return a;
}

OWN bool strings(const std::string &a, std::string b, std::string *c)
{
	tell("strings(a=%s, b=%s, c=%s) = %s", quoted(a), quoted(b),
	     c == &title ? "title" : address(c), a == b ? "true" : "false");
	return a == b;
}

OWN std::string joined(const std::string &a, std::string_view b, char c)
{
	std::string sum = a + std::string(b) + c;

	tell("joined(a=%s, b=%s, c='%c') = %s", quoted(a), quoted(b), c,
	     quoted(sum));
	return sum;
}

OWN std::string_view part(std::string_view s, unsigned n)
{
	tell("part(s=%s, n=%u) = %s", quoted(s), n, quoted(s.substr(n)));
	return s.substr(n);
}

OWN size_t vectors(const std::vector<int> &a, std::vector<double> b,
		   std::vector<std::string> &c, const std::vector<char *> *d)
{
	tell("vectors(a=%s, b=%s, c=[%zu]{%s}, d=%s) = %zu", head(a, "%d"),
	     head(b, "%g"), c.size(), c.empty() ? "" : "...", address(d),
	     a.size());
	return a.size();
}

OWN std::vector<short> shorts(int n)
{
	std::vector<short> v;

	for (int i = 0; i < n; i++)
		v.push_back((short)-i);
	tell("shorts(n=%d) = %s", n, head(v, "%d"));
	return v;
}

OWN std::unique_ptr<Point> owners(std::unique_ptr<Point> a,
				  const std::unique_ptr<int> &b,
				  std::shared_ptr<int> c)
{
	tell("owners(a=%s, b=%s, c=%s) = %s", address(a.get()),
	     address(b.get()), address(c.get()), address(a.get()));
	return a;
}

OWN Mood enums(Mood m, Bits b, shop::Kind k, std::byte *p)
{
	tell("enums(m=%s, b=%s, k=TOY, p=%s) = Angry",
	     m == Mood::Calm ? "Calm" : "Angry",
	     b == Bits::Top		   ? "Top"
	     : b == Bits((int)Bits::A | 4) ? "A|C"
					   : "0",
	     address(p));
	return k == shop::TOY ? Mood::Angry : Mood::Calm;
}

OWN Point classes(Point p, Owned o, Line l)
{
	tell("classes(p={x=%d, y=%d}, o={n=%d}, l={...}) = {x=%d, y=%d}", p.x,
	     p.y, o.n, p.y, p.x);
	counter += l.n;
	return {p.y, p.x};
}

OWN Owned owned(int n)
{
	tell("owned(n=%d) = {n=%d}", n, n + 1);
	return Owned(n + 1);
}

OWN void functions(int (*f)(int), std::nullptr_t n, int Point::*m,
		   const std::function<int(int)> &g)
{
	tell("functions(f=twice, n=0x0, m={...}, g=%s)", address(&g));
	counter += f && n == nullptr && m;
}

OWN int twice(int n)
{
	tell("twice(n=%d) = %d", n, 2 * n);
	return 2 * n;
}

OWN const Point *point_to(bool is_origin)
{
	tell("point_to(is_origin=%s) = %s", is_origin ? "true" : "false",
	     is_origin ? "origin" : "0x0");
	return is_origin ? &origin : nullptr;
}

OWN Point *kept(int n)
{
	static Point last = {1, 2};

	tell("kept(n=%d) = kept(int)::last", n);
	return &last;
}

OWN bool always(int n)
{
	tell("always(n=%d) = true", n);
	return true;
}

template <typename T, int N> OWN T scaled(T a)
{
	tell("scaled<...>(a=%g) = %g", (double)a, (double)(a * N));
	return a * N;
}

template <typename... T> OWN int packed(const char *s, T... rest)
{
#ifdef __clang__
	const char *name = "rest=";
#else
	const char *name = ""; /* gcc tells none */
#endif
	std::string list;

	for (long n : {(long)rest...})
		list += std::string(", ") + name + std::to_string(n);
	tell("packed<...>(s=%s%s) = %d", quoted(s), list.c_str(),
	     (int)sizeof...(rest));
	return (int)sizeof...(rest);
}

OWN void not_read(const std::string &a, const int &b, std::vector<int> *c)
{
	tell("not_read(a=<cannot read>, b=<cannot read>, c=%s)", address(c));
	counter++;
}

/* ---- classes --------------------------------------------------------------
 */

struct Named {
	virtual ~Named() = default;
	virtual int name(const char *s) = 0;
	long of_named = 1;
};

struct Aged {
	virtual ~Aged() = default;
	virtual int age(int n) = 0;
	long of_aged = 2;
};

class Person : public Named, public Aged
{
      public:
	OWN explicit Person(const std::string &of) : called(of)
	{
		tell("Person::Person(this=%s, of=%s)", address(this),
		     quoted(of));
	}
	OWN int name(const char *s) override
	{
		tell("Person::name(this=%s, s=%s) = %d", address(this),
		     quoted(s), counter);
		return counter;
	}
	OWN int age(int n) override
	{
		tell("Person::age(this=%s, n=%d) = %d", address(this), n,
		     n + 1);
		return n + 1;
	}
	OWN size_t size() const
	{
		tell("Person::size(this=%s) = %zu", address(this),
		     called.size());
		return called.size();
	}
	OWN static int number(int n)
	{
		tell("Person::number(n=%d) = %d", n, n);
		return n;
	}
	OWN int operator[](int n)
	{
		tell("Person::operator[](this=%s, n=%d) = %d", address(this), n,
		     n + 7);
		return n + 7;
	}
	OWN const std::string &what() const
	{
		tell("Person::what(this=%s) = %s", address(this),
		     quoted(called));
		return called;
	}
	OWN Person &self()
	{
		tell("Person::self(this=%s) = %s", address(this),
		     address(this));
		return *this;
	}

      private:
	std::string called;
};

OWN int thrown(int n)
{
	if (n > 1)
		throw n;
	tell("thrown(n=%d) = %d", n, n + 1);
	return n + 1;
}

OWN int caught(int n)
{
	try {
		thrown(n);
	} catch (int) {
	}
	tell("caught(n=%d) = %d", n, -n);
	return -n;
}

/* ---- main -----------------------------------------------------------------
 */

UNTRACED static void plain()
{
	volatile int n = 5;
	int a = n, *pa = &a;
	long b = -n;
	double d = n * 0.5;
	Point p = {n, -n}, q = {1, 2};
	Line l = {p, n};

	references(a, b, n + 1, d);
	of_classes(p, q, l, pa);
	counter = 0;
	referred(a, n);
	enums(Mood::Calm, Bits::Top, shop::TOY, nullptr);
	enums(Mood::Angry, Bits(5), shop::TOY, nullptr);
	enums(Mood::Angry, Bits(0), shop::TOY, nullptr);
	classes(p, Owned(n), l);
	counter = 0;
	owned(n);
	functions(twice, nullptr, &Point::y, [](int i) { return i; });
	counter = 0;
	twice(n);
	point_to(n);
	point_to(!n);
	kept(n);
	always(n);
	scaled<double, 2>(n);
	packed("pack", (int)n, 7L);
	thrown(1);
	caught(1);
	caught(n - 5);
}

UNTRACED static void texts_and_lists()
{
	std::string empty, small = "small", large(100, 'x');
	std::vector<int> numbers = {1, -2, 3, 4, 5}, none;
	std::vector<std::string> words = {"one", "two"}, no_words;

	strings(empty, small, &title);
	strings(large, large, &small);
	strings("quote \" and \\", "exactly thirty-two bytes of text", nullptr);
	joined(small, "view", '!');
	joined(large, empty, '?');
	joined("sm", "all", '.');
	part("a text to be cut", 7);
	part(std::string_view(large).substr(0, 32), 0);
	vectors(numbers, {0.5, 1, 2}, words, nullptr);
	vectors(none, {}, no_words, nullptr);
	shorts(3);
	shorts(20);
	owners(std::make_unique<Point>(Point{1, 2}), std::make_unique<int>(3),
	       std::make_shared<int>(4));
	owners(nullptr, nullptr, nullptr);
}

UNTRACED static void members()
{
	auto *person = new Person("Ann");
	Named *named = person;
	Aged *aged = person;

	named->name("first");
	aged->age(30);
	person->age(31);
	person->size();
	Person::number(8);
	(*person)[2];
	person->what();
	person->self();
	operator delete(person);
}

UNTRACED static void bad_ones()
{
	volatile uintptr_t nowhere = 16;

	not_read(*(std::string *)nowhere, *(int *)nowhere,
		 (std::vector<int> *)nowhere);
	counter = 0;
}

UNTRACED int main()
{
	plain();
	texts_and_lists();
	members();
	bad_ones();
	return 0;
}
