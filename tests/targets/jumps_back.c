/* SPDX-License-Identifier: MIT
 *
 * Leaves calls by longjmp(), and is called back by libc.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static sigjmp_buf sig_back;
static volatile int n;

__attribute__((noinline)) static void deep(int left)
{
	if (left == 0)
		longjmp(back, 3);
	deep(left - 1);
	n++;
}

__attribute__((noinline)) static void sig_deep(int left)
{
	if (left == 0)
		siglongjmp(sig_back, 2);
	sig_deep(left - 1);
	n++;
}

__attribute__((noinline)) static int try_it(int left)
{
	int how = setjmp(back);

	if (how == 0)
		deep(left);
	n += how;
	return n;
}

__attribute__((noinline)) static int try_sig(int left)
{
	int how = sigsetjmp(sig_back, 1);

	if (how == 0)
		sig_deep(left);
	n += how;
	return n;
}

static int compare(const void *a, const void *b)
{
	n++;
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int all[] = {3, 1, 2};

	n = try_it(2);
	n += try_sig(1);
	n += try_it(0);
	qsort(all, 3, sizeof all[0], compare);
	n += all[0];
	printf("%d\n", n);
	fflush(stdout);
	_Exit(0); /* libraries' destructors are another number with cstrace */
}
