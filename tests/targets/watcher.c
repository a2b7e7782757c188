/* SPDX-License-Identifier: MIT
 *
 * A program with hooks that counts its calls by a callback: ten before
 * halfway(), ten behind.
 */
#include <cstrace/cstrace.h>
#include <stdio.h>

static int n_seen;

static __attribute__((no_instrument_function)) int
count(const struct cstrace_call *call, void *work)
{
	n_seen += call->callee == work;
	return CSTRACE_GO_ON;
}

__attribute__((noinline)) void work(int n)
{
	__asm__ volatile("" : : "r"(n));
}

__attribute__((noinline)) void halfway(void)
{
	__asm__ volatile("");
}

int main(void)
{
	int callback = cstrace_on_enter(count, (void *)work);

	for (int i = 0; i < 10; i++)
		work(i);
	halfway();
	for (int i = 0; i < 10; i++)
		work(i);
	cstrace_off(callback);
	printf("%d callbacks\n", n_seen);
	return 0;
}
