/* SPDX-License-Identifier: MIT
 *
 * main() ends by pthread_exit(): another thread goes on, and ends the process.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_t first;

static void leave(void)
{
	pthread_exit(NULL);
}

static void work(void)
{
}

static void *worker(void *arg)
{
	pthread_join(first, NULL);
	work();
	puts("worker done");
	if (arg) /* the other thread's calls stay open then */
		_exit(3);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	(void)argv;
	first = pthread_self();
	pthread_create(&t, NULL, worker, argc > 1 ? &first : NULL);
	leave();
	return 1;
}
