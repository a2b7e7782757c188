/* SPDX-License-Identifier: MIT
 *
 * Recursion: of one function, deeper than some formats go; of two that call
 * each other; and with more than one branch.
 */
static int down(int n)
{
	return n ? 1 + down(n - 1) : 0;
}

static int odd(int n);

static int even(int n)
{
	return n ? odd(n - 1) : 1;
}

static int odd(int n)
{
	return n ? even(n - 1) : 0;
}

static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
	return down(5000) + even(600) + fib(10) == 0;
}
