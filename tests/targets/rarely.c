/* SPDX-License-Identifier: MIT
 *
 * Four threads make calls for as long as a test takes; one of them calls
 * another function now and then.
 */
#include <pthread.h>

enum { THREADS = 3, SELDOM = 1000 };

static volatile int sink;

__attribute__((noinline)) int leaf(int n)
{
	int r = n * 3;
	r ^= n;
	return r + 1;
}

__attribute__((noinline)) int middle(int n)
{
	return leaf(n) + leaf(n + 1);
}

__attribute__((noinline)) int seldom(int n)
{
	return middle(n) + 1;
}

static void *work(void *nothing)
{
	for (;;)
		sink += middle(3);
	return nothing;
}

int main(void)
{
	pthread_t t;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t, 0, work, 0))
			return 1;
	for (int i = 0;; i++)
		sink += i % SELDOM ? middle(i) : seldom(i);
}
