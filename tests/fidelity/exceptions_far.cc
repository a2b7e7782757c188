// SPDX-License-Identifier: MIT
//
// Exceptions through frames of C and caught in another library; destructors
// that run traced code, and throw and catch of their own, meanwhile; rethrown,
// kept in an exception_ptr, out of a constructor.
#include "expect.h"
#include <exception>
#include <stdexcept>

extern "C" void through_c(int d, void (*f)(int));
extern "C" void through_sort(int d, void (*f)(int));
bool caught_over_there(int d, void (*f)(int));

NOINLINE static void leaf(int d)
{
	expect(d, "leaf(int)");
}

struct Busy {
	int d;
	NOINLINE explicit Busy(int depth) : d(depth)
	{
		expect(d, "Busy::Busy(int)");
		leaf(d + 1);
	}
	NOINLINE ~Busy()
	{
		expect(d, "Busy::~Busy()");
		leaf(d + 1);
		leaf(d + 1);
	}
};

NOINLINE static void throw_small(int d)
{
	expect(d, "throw_small(int)");
	throw 1;
}

/* Its destructor has an exception of its own, while another is under way. */
struct Stormy {
	int d;
	NOINLINE explicit Stormy(int depth) : d(depth)
	{
		expect(d, "Stormy::Stormy(int)");
	}
	NOINLINE ~Stormy()
	{
		expect(d, "Stormy::~Stormy()");
		try {
			Busy b(d + 1);
			throw_small(d + 1);
		} catch (int) {
			leaf(d + 1);
		}
		leaf(d + 1);
	}
};

NOINLINE static void thrower(int d)
{
	expect(d, "thrower(int)");
	Busy a(d + 1);
	Stormy s(d + 1);
	Busy b(d + 1);
	throw std::runtime_error("far");
}

NOINLINE static void by_c(int d)
{
	expect(d, "by_c(int)");
	Busy b(d + 1);
	through_c(d + 1, thrower);
	expect(d + 1, "never");
}

NOINLINE static void by_sort(int d)
{
	expect(d, "by_sort(int)");
	through_sort(d + 1, by_c);
	expect(d + 1, "never");
}

NOINLINE static void again(int d)
{
	expect(d, "again(int)");
	Stormy s(d + 1);
	try {
		Busy b(d + 1);
		by_c(d + 1);
	} catch (const std::exception &) {
		leaf(d + 1);
		throw;
	}
}

NOINLINE static void keep(int d)
{
	std::exception_ptr kept;

	expect(d, "keep(int)");
	try {
		again(d + 1);
	} catch (...) {
		kept = std::current_exception();
	}
	leaf(d + 1);
	Busy b(d + 1);
	std::rethrow_exception(kept);
}

/* The constructor fails when two of its parts are made: those are undone. */
struct Parts {
	int d;
	Busy a, b;
	NOINLINE explicit Parts(int depth)
	    : d((expect(depth, "Parts::Parts(int)"), depth)), a(d + 1), b(d + 1)
	{
		throw_small(d + 1);
	}
};

NOINLINE static void build(int d)
{
	expect(d, "build(int)");
	try {
		Parts p(d + 1);
	} catch (int) {
		leaf(d + 1);
		throw std::logic_error("parts");
	}
}

int main()
{
	static void (*const all[])(int) = {thrower, by_c, by_sort,
					   again,   keep, build};

	expect(0, "main");
	for (int i = 0; i < 24; i++) {
		if (!caught_over_there(1, all[i % 6]))
			expect(1, "never");
		try {
			Stormy s(1);
			all[i % 6](1);
		} catch (const std::exception &) {
			leaf(1);
		}
		leaf(1);
	}
}
