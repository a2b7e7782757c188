/* SPDX-License-Identifier: MIT
 *
 * Calls the program back that calls it.
 */
#define KEPT __attribute__((noinline, noclone))

KEPT int lib_leaf(int n)
{
	__asm__ volatile("");
	return n * 3;
}

KEPT int lib_twice(int (*f)(int), int n)
{
	int a = f(n);
	int b = f(n + 1);

	return lib_leaf(a) + b;
}
