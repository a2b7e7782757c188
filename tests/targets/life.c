/* SPDX-License-Identifier: MIT
 *
 * Calls before main and after it.
 */
#include <stdio.h>
#include <stdlib.h>

static volatile int stage;

static void step(int n)
{
	stage = n;
}

__attribute__((constructor)) static void early(void)
{
	step(1);
}

__attribute__((destructor)) static void late(void)
{
	step(4);
}

static void at_exit(void)
{
	step(3);
}

int main(void)
{
	atexit(at_exit);
	step(2);
	return 0;
}
