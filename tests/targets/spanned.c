/* SPDX-License-Identifier: MIT
 *
 * A function that is called within one span, and within two; compile with
 * -DCSTRACE.
 */
#include <cstrace/cstrace.h>

static volatile int sum;

static void work(int n)
{
	sum += n;
}

static void outer(void)
{
	CSTRACE_SPAN("one");
	work(1);
	{
		CSTRACE_SPAN("two");
		work(2);
	}
}

int main(void)
{
	outer();
	return 0;
}
