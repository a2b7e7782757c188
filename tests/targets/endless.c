/* SPDX-License-Identifier: MIT
 *
 * A recursion without an end, from a place on the stack that is so many bytes
 * further down as the argument says.
 */
#include <alloca.h>
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) int deeper(int n)
{
	volatile int own[16];

	own[n & 15] = n;
	return deeper(n + 1) + own[n & 7];
}

int main(int argc, char **argv)
{
	volatile char *space = alloca(argc > 1 ? (size_t)atoi(argv[1]) : 1);

	space[0] = 1;
	sink = deeper(argc);
	return sink + space[0];
}
