/* SPDX-License-Identifier: MIT
 *
 * Does nothing but call, in four threads beside its first.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static volatile long sum;
static volatile int n_ready;

static void leaf(int n)
{
	sum += n;
}

static void work(int n)
{
	for (int i = 0; i < 100; i++)
		leaf(i + n);
}

static void *spin(void *unused)
{
	work(3);
	__atomic_add_fetch(&n_ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		work(3);
	return unused;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, spin, NULL);
	while (n_ready < 4)
		sched_yield();
	puts("ready");
	fflush(stdout);
	pthread_join(thread, NULL);
	return 0;
}
