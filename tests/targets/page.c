/* SPDX-License-Identifier: MIT
 *
 * For the page: page ROUNDS makes some 5000 calls a round, of very different
 * lengths; one function's name is not for a page, and a thread has a stack of
 * its own.
 */
#include <pthread.h>
#include <stdlib.h>

int hostile(int n) __asm__("\"</script><script>hacked=1</script>&amp;'\"");

static int leaf(int n)
{
	return n * 3 + 1;
}

static int work(int n)
{
	int sum = 0;

	for (int i = 0; i < 4; i++)
		sum += leaf(n + i);
	return sum;
}

static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int turn(int n)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += i % 3 ? work(i + n) : fib(7 + i % 5);
	return sum;
}

int hostile(int n)
{
	return leaf(n);
}

static void *helper(void *arg)
{
	hostile(1);
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, sum = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, helper, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < n; i++)
		sum += turn(i);
	return sum == 42;
}
