// SPDX-License-Identifier: MIT
//
// An object whose making and end tell of themselves: globals.cc and its parts.
#include "../expect.h"

// The depth of whatever ends after main: below the call that called exit().
extern int end_depth;

// gcc's own functions that make a file's objects are traced, clang's are not.
#ifdef __clang__
enum { BEGIN_DEPTH = 0 };
#define TELL_MAKER(name)
#else
enum { BEGIN_DEPTH = 2 };
#define TELL_MAKER(name)                                                     \
	static int told_maker =                                              \
		(expect(0, name),                                            \
		 expect(1, "__static_initialization_and_destruction_0(int, " \
			   "int)"),                                          \
		 0);
#endif

namespace
{
struct Global {
	int d;
	NOINLINE explicit Global(int depth) : d(depth)
	{
		expect(d, "(anonymous namespace)::Global::Global(int)");
		part(d + 1);
	}
	NOINLINE ~Global()
	{
		int depth = d == BEGIN_DEPTH ? end_depth : d;

		expect(depth, "(anonymous namespace)::Global::~Global()");
		part(depth + 1);
	}
	NOINLINE static void part(int depth)
	{
		expect(depth, "(anonymous namespace)::Global::part(int)");
	}
};
} // namespace
