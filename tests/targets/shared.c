/* SPDX-License-Identifier: MIT
 *
 * A library that host.c links.
 */
static volatile int seen;

static void note(int n)
{
	seen = n;
}

int shared_add(int a, int b)
{
	note(a);
	return a + b;
}
