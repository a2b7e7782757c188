/* SPDX-License-Identifier: MIT
 *
 * A parent and its child make calls, none waits for the other before.
 */
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int scale(int n)
{
	int r = n * 3;
	r ^= n;
	return r + 1;
}

__attribute__((noinline)) int both(int n)
{
	return scale(n) + scale(n + 1);
}

__attribute__((noinline)) int fac(int n)
{
	if (n < 2)
		return 1;
	return n * fac(n - 1);
}

__attribute__((noinline)) int split(int n)
{
	return fork() ? both(n) : fac(n);
}

int main(void)
{
	int status = 0, r = split(4);

	r += both(r) + fac(3);
	wait(&status);
	return r == 99;
}
