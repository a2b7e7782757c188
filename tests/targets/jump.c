/* SPDX-License-Identifier: MIT
 *
 * longjmp() over frames, from several depths, back into a loop in one and the
 * same frame, and then on as if nothing had been.
 */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;
static volatile int landed;

static void leap(int n)
{
	if (n == 0)
		longjmp(back, 1);
	if (n < 100)
		leap(n - 1);
}

static void settle(void)
{
	landed++;
}

static void attempt(int n)
{
	if (setjmp(back) == 0)
		leap(n);
	else
		settle();
}

static void again(void)
{
	volatile int round = 0;

	setjmp(back);
	if (round < 2) {
		round++;
		leap(1);
	}
	settle();
}

int main(void)
{
	attempt(0);
	attempt(2);
	again();
	printf("landed %d\n", landed);
	return 0;
}
