// SPDX-License-Identifier: MIT
// What is called again and again, and how: functions that call each other,
// one function from many lines, a loop that ends in the middle of a round.
static volatile int left = 200, sum;

static int is_odd(int n);

static int is_even(int n)
{
	return n ? is_odd(n - 1) : 1;
}

static int is_odd(int n)
{
	return n ? is_even(n - 1) : 0;
}

static void put(int n)
{
	sum += n;
}

static void settings(void)
{
	put(1);
	put(2);
	put(3);
	put(4);
	put(5);
	put(6);
	put(7);
	put(8);
}

static int take(void)
{
	return left ? left-- : 0;
}

static void handle(int n)
{
	put(n);
}

static void work(void)
{
	int n;

	while ((n = take()))
		handle(n);
}

int main(void)
{
	settings();
	work();
	return is_even(9);
}
