/* SPDX-License-Identifier: MIT
 *
 * One producer and two workers round a bounded queue.  Each thread has its own
 * tree, told apart by the first number of the IDs.
 */
#include <pthread.h>
#include <stdio.h>

enum { QUEUE_SIZE = 4, N_JOBS = 6, N_WORKERS = 2, NO_MORE = -1 };

static int queue[QUEUE_SIZE];
static unsigned n_put, n_taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void queue_put(int job)
{
	pthread_mutex_lock(&lock);
	while (n_put - n_taken == QUEUE_SIZE)
		pthread_cond_wait(&changed, &lock);
	queue[n_put++ % QUEUE_SIZE] = job;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static int queue_take(void)
{
	int job;

	pthread_mutex_lock(&lock);
	while (n_put == n_taken)
		pthread_cond_wait(&changed, &lock);
	job = queue[n_taken++ % QUEUE_SIZE];
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return job;
}

static int collatz(long n)
{
	int steps = 0;

	for (; n != 1; steps++)
		n = n % 2 ? 3 * n + 1 : n / 2;
	return steps;
}

static void *worker(void *total)
{
	int job;

	while ((job = queue_take()) != NO_MORE)
		*(int *)total += collatz(job);
	return NULL;
}

int main(void)
{
	pthread_t threads[N_WORKERS];
	int totals[N_WORKERS] = {0};

	for (int i = 0; i < N_WORKERS; i++)
		pthread_create(&threads[i], NULL, worker, &totals[i]);
	for (int job = 1; job <= N_JOBS; job++)
		queue_put(job);
	for (int i = 0; i < N_WORKERS; i++)
		queue_put(NO_MORE);
	for (int i = 0; i < N_WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("%d steps\n", totals[0] + totals[1]);
	return 0;
}
