// SPDX-License-Identifier: MIT
//
// What runs first after an exception is called back by code without hooks, from
// below the frames that were left: nothing but the unwinder knows that they
// were.
#include "../expect.h"
#include <stdexcept>

extern "C" void run(int d);

static int depth;
static bool fails;

NOINLINE static int compare(const void *a, const void *b)
{
	expect(depth, "compare(void const*, void const*)");
	if (fails)
		throw 1;
	return *(const int *)a - *(const int *)b;
}

QUIET static void sort(int d)
{
	int numbers[] = {3, 1, 2};

	depth = d;
	qsort(numbers, 3, sizeof(numbers[0]), compare);
}

/* A destructor's calls are, like its neighbour's hooks, in a frame that is
 * being unwound. */
struct Sorts {
	int d;
	QUIET explicit Sorts(int depth) : d(depth)
	{
	}
	QUIET ~Sorts()
	{
		sort(d);
	}
};

NOINLINE static void dive(int d, int n)
{
	volatile char room[512];

	room[0] = 0;
	expect(d, "dive(int, int)");
	if (n == 0)
		throw std::runtime_error("x");
	dive(d + 1, n - 1);
	room[1] = 1;
}

NOINLINE static void caught(int d)
{
	expect(d, "caught(int)");
	for (int i = 0; i < 5; i++) {
		try {
			dive(d + 1, 3 + i);
		} catch (const std::exception &) {
			sort(d + 1);
		}
	}
}

NOINLINE static void with_destructor(int d, int n)
{
	Sorts s(d + 1);

	expect(d, "with_destructor(int, int)");
	if (n)
		with_destructor(d + 1, n - 1);
	else
		dive(d + 1, 4);
}

NOINLINE static void again(int d)
{
	expect(d, "again(int)");
	try {
		with_destructor(d + 1, 2);
	} catch (...) {
		sort(d + 1);
		throw;
	}
}

/* Out of what was called back itself, caught above it. */
NOINLINE static void out(int d)
{
	expect(d, "out(int)");
	for (int i = 0; i < 5; i++) {
		fails = true;
		try {
			sort(d + 1);
		} catch (int) {
			fails = false;
			sort(d + 1);
		}
	}
}

static inline __attribute__((always_inline)) void inner(int d)
{
	expect(d, "inner(int)");
	sort(d + 1);
	dive(d + 1, 2);
}

static inline __attribute__((always_inline)) void outer(int d)
{
	expect(d, "outer(int)");
	try {
		inner(d + 1);
	} catch (const std::exception &) {
		sort(d + 1);
		throw;
	}
}

struct Tells {
	int d;
	QUIET explicit Tells(int depth) : d(depth)
	{
	}
	NOINLINE ~Tells()
	{
		expect(d, "Tells::~Tells()");
	}
};

/* Before the handler, the destructor of a neighbour. */
NOINLINE static void with_neighbour(int d)
{
	Tells t(d + 1);

	expect(d, "with_neighbour(int)");
	inner(d + 1);
}

/* Inlined calls are left, in the very frame that goes on; one is not, and goes
 * on. */
NOINLINE static void inlined(int d)
{
	expect(d, "inlined(int)");
	for (int i = 0; i < 5; i++) {
		try {
			outer(d + 1);
		} catch (const std::exception &) {
			sort(d + 1);
		}
		sort(d + 1);
	}
}

NOINLINE static void leaf(int d)
{
	expect(d, "leaf(int)");
}

void run(int d)
{
	expect(d, "run");
	caught(d + 1);
	out(d + 1);
	inlined(d + 1);
	try {
		with_neighbour(d + 1);
	} catch (const std::exception &) {
		sort(d + 1);
	}
	for (int i = 0; i < 3; i++) {
		try {
			again(d + 1);
		} catch (const std::exception &) {
			sort(d + 1);
		}
		leaf(d + 1);
	}
}
