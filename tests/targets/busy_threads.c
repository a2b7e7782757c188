/* SPDX-License-Identifier: MIT
 *
 * Four threads call one function all the time; the results of one of them are
 * large now and then.  Says how often a result was wrong.
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, CALLS = 20000, OFTEN = 4000 };

static int zero;
static volatile int is_over;
static unsigned long n_wrong;

__attribute__((noinline)) static int seven(int n)
{
	int r = n * 7;

	__asm__ volatile("" ::: "rbx", "r12"); /* it has something to restore */
	return r + zero;
}

static void *work(void *p)
{
	unsigned long wrong = 0;

	for (int n = 0; !is_over; n = (n + 1) % 3)
		wrong += seven(n) != n * 7;
	__atomic_fetch_add(&n_wrong, wrong, __ATOMIC_SEQ_CST);
	return p;
}

int main(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < CALLS; i++) {
		int n = i % OFTEN == 7 ? 107 : i % 10;

		n_wrong += seven(n) != n * 7;
	}
	is_over = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], 0);
	printf("%lu wrong\n", n_wrong);
	return 0;
}
