/* SPDX-License-Identifier: MIT
 *
 * plugins.c: twice, as A and as B, of the same size.
 */
#include "../expect.h"

#define NAME2(prefix, kind) prefix##_##kind
#define NAME1(prefix, kind) NAME2(prefix, kind)
#define NAME(kind) NAME1(PREFIX, kind)
#define TEXT2(name) #name
#define TEXT1(name) TEXT2(name)
#define TEXT(kind) TEXT1(NAME(kind))

void run(int d, void (*back)(int));

NOINLINE static void NAME(leaf)(int d)
{
	expect(d, TEXT(leaf));
}

__attribute__((constructor)) static void NAME(begin)(void)
{
	expect(2, TEXT(begin));
	NAME(leaf)(3);
}

__attribute__((destructor)) static void NAME(end)(void)
{
	expect(2, TEXT(end));
	NAME(leaf)(3);
}

void run(int d, void (*back)(int))
{
	expect(d, "run");
	NAME(leaf)(d + 1);
	back(d + 1);
	NAME(leaf)(d + 1);
}
