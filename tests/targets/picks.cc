/* SPDX-License-Identifier: MIT; calls that conditions on values choose from. */
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/* clang's code without optimization does not link with libstdc++'s strings. */
#ifdef __clang__
#define CALLED __attribute__((noinline))
#define HAS_LIBRARY 0
#else
#define CALLED __attribute__((noinline, noclone))
#define HAS_LIBRARY 1
#endif

enum Color { RED, GREEN, BLUE };
enum Flags { READ = 1, WRITE = 2, RUN = 4, KEEP = 8 };
struct Point {
	int x;
	const char *label;
	short y;
	const char *note;
};

static volatile long sink;

CALLED int number(int i, unsigned long big, short low)
{
	sink = sink + i + (long)big + low;
	return i * 10;
}

CALLED bool kinds(bool flag, char c, Color color, unsigned flags, Flags rights)
{
	sink = sink + flag + c + color + (long)flags + rights;
	return flag;
}

CALLED const char *text(const char *s, const void *p)
{
	sink = sink + (s ? (long)strlen(s) : 0) + (p != nullptr);
	return s;
}

CALLED long fields(Point p, const Point &at)
{
	sink = sink + p.x + p.y + at.y + (p.label != nullptr);
	return p.y;
}

#if HAS_LIBRARY
CALLED void library(const std::string &name, std::string_view view,
		    const std::vector<long> &v, std::unique_ptr<int> &owner)
{
	sink = sink + (long)name.size() + (long)view.size() + (long)v.size() +
	       (owner ? *owner : 0);
}
#endif

CALLED int none()
{
	return (int)sink;
}

CALLED double half(double x)
{
	sink = sink + (long)x;
	return x / 2;
}

CALLED long double wide(long double x)
{
	sink = sink + (long)x;
	return x / 2;
}

CALLED float quarter(float x, int i)
{
	sink = sink + (long)x + i;
	return x / 4;
}

static const double odd_numbers[] = {-0.0, 0.1, -1e30, 3};
static const char *words[] = {"alpha", "beta", nullptr, "betamax", "be"};

int main()
{
	for (int i = -2; i < 6; i++)
		number(i, 1ul << (60 + i % 4), (short)(i * 1000));
	for (int i = 0; i < 8; i++)
		kinds(i % 2, (char)('a' + i), (Color)(i % 3), 1u << i,
		      (Flags)i);
	for (int i = 0; i < 5; i++)
		text(words[i], i % 2 ? words : nullptr);
	for (int i = 0; i < 5; i++) {
		Point p = {i, words[i], (short)-i, words[4 - i]};

		fields(p, p);
	}
#if HAS_LIBRARY
	for (int i = 0; i < 5; i++) {
		std::string name(words[i] ? words[i] : "gamma");
		std::unique_ptr<int> owner(i == 3 ? new int(i) : nullptr);

		library(name, std::string_view(name).substr(1),
			std::vector<long>((size_t)i, 7), owner);
	}
#endif
	none();
	wide(3);
	for (int i = 0; i < 4; i++)
		half(odd_numbers[i]);
	for (int i = 0; i < 4; i++)
		quarter((float)odd_numbers[i], i);
	printf("%ld\n", (long)sink);
	return 0;
}
