/* SPDX-License-Identifier: MIT
 *
 * A program and its library (mixed_library.c) call each other.
 */
#include <stdio.h>

#define KEPT __attribute__((noinline, noclone))

int lib_twice(int (*f)(int), int n);
int lib_leaf(int n);

KEPT int own(int n)
{
	__asm__ volatile("");
	return n + 1;
}

KEPT int back(int n)
{
	return own(n) + lib_leaf(n);
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", lib_twice(back, argc));
	return 0;
}
