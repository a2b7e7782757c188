/* SPDX-License-Identifier: MIT
 *
 * A recursion on a stack of the program's own, with nothing mapped below it, so
 * that it ends at the same call wherever that stack is.  argv: how many bytes
 * further down it begins; how many calls there are, 0 for no end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { SIZE = 1 << 16, PAGE = 4096 };

static volatile int sink, limit;
static ucontext_t back, there;

__attribute__((noinline)) static int deeper(int n);

__attribute__((noinline)) static int half(int n)
{
	volatile char own[40];

	own[n & 31] = (char)n;
	return deeper(n + 1) + own[n & 7];
}

__attribute__((noinline)) static int deeper(int n)
{
	volatile int own[16];

	if (n == limit)
		return n;
	own[n & 15] = n;
	return (n & 1 ? half(n) : deeper(n + 1)) + own[n & 7];
}

static void begin(void)
{
	sink = deeper(1);
}

int main(int argc, char **argv)
{
	size_t less = argc > 1 ? (size_t)atoi(argv[1]) : 0;
	char *stack = mmap(NULL, SIZE + PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	limit = argc > 2 ? atoi(argv[2]) : 0;
	if (stack == MAP_FAILED || mprotect(stack, PAGE, PROT_NONE))
		return 1;
	getcontext(&there);
	there.uc_stack.ss_sp = stack + PAGE;
	there.uc_stack.ss_size = SIZE - less;
	there.uc_link = &back;
	makecontext(&there, begin, 0);
	swapcontext(&back, &there);
	printf("%d calls\n", limit);
	return 0;
}
