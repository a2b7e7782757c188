// SPDX-License-Identifier: MIT
//
// Another file with objects, in the program or in a library: globals.cc.
#include "globals.h"

void NAME(int d);

TELL_MAKER("_GLOBAL__sub_I_" MAKER)
static Global one(BEGIN_DEPTH), two(BEGIN_DEPTH);

NOINLINE void NAME(int d)
{
	expect(d, TEXT "(int)");
	static Global local(d + 1);
	local.d = BEGIN_DEPTH;
}
